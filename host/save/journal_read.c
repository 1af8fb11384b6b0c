/* SPDX-License-Identifier: Apache-2.0 */
/* Reads graft_journal.json, which is untrusted, like everything in a model directory. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/dtype.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/json_field.h"
#include "save/journal.h"

enum { MAX_JOURNAL_BYTES = 256 << 20, VERSION = 1, MAX_INPUTS = 1 << 16 };

/* A number that is not negative, or -1. */
static int64_t number_of(const graft_json *value) {
    return graft_json_type(value) == GRAFT_JSON_INT ? graft_json_int(value) : -1;
}

static int read_class(const struct graft_field *item, struct journal *journal, struct graft_error *error) {
    static const struct graft_member members[] = {
        {"class", .offset = offsetof(struct journal_class, class_name), .is_filled = 1},
        {"original_class", .offset = offsetof(struct journal_class, original), .is_filled = 1},
        {"plugin", .offset = offsetof(struct journal_class, plugin), .is_filled = 1},
        {0},
    };
    struct journal_class cls;
    int status = graft_field_read_some(item, members, &cls, error);
    return status == GRAFT_OK && graft_journal_add_class(journal, &cls) != 0 ? graft_fail_memory(error, item->file)
                                                                             : status;
}

static int read_option(const struct graft_field *item, struct journal *journal, struct graft_error *error) {
    static const struct graft_member members[] = {
        {"plugin", .offset = offsetof(struct journal_option, plugin), .is_filled = 1},
        {"name", .offset = offsetof(struct journal_option, name), .is_filled = 1},
        {"value", .offset = offsetof(struct journal_option, value)},
        {0},
    };
    struct journal_option option;
    int status = graft_field_read_some(item, members, &option, error);
    return status == GRAFT_OK && graft_journal_add_option(journal, &option) != 0 ? graft_fail_memory(error, item->file)
                                                                                 : status;
}

/* Fills in type and shape. Returns 0 when they make no sense. */
static int read_form(const graft_json *item, struct journal_tensor *tensor) {
    const char *dtype = graft_json_string(graft_json_get(item, "dtype"), NULL);
    const graft_json *shape = graft_json_get(item, "shape");
    size_t rank = graft_json_size(shape);
    tensor->dtype = dtype != NULL ? graft_dtype_from_name(dtype) : GRAFT_DTYPE_NONE;
    if (tensor->dtype == GRAFT_DTYPE_NONE || graft_json_type(shape) != GRAFT_JSON_ARRAY || rank > GRAFT_MAX_RANK) {
        return 0;
    }
    tensor->rank = (int32_t)rank;
    for (size_t i = 0; i < GRAFT_MAX_RANK; i++) {
        tensor->shape[i] = i < rank ? number_of(graft_json_at(shape, i)) : 1;
        if (tensor->shape[i] < 0) {
            return 0;
        }
    }
    int64_t bytes = graft_tensor_view_size(tensor->dtype, tensor->rank, tensor->shape);
    tensor->count = bytes / graft_stored_dtype_unit(tensor->dtype);
    return bytes >= 0;
}

static int read_tensor(const struct graft_field *item, struct journal *journal, struct graft_error *error) {
    static const struct graft_member members[] = {
        {"name", .offset = offsetof(struct journal_tensor, name), .is_filled = 1},
        {"lost", .offset = offsetof(struct journal_tensor, lost), .is_optional = 1},
        {"made", GRAFT_MEMBER_FLAG, .offset = offsetof(struct journal_tensor, made), .is_optional = 1},
        {0},
    };
    struct journal_tensor tensor = {0};
    int status = graft_field_read_some(item, members, &tensor, error);
    if (status == GRAFT_OK && !read_form(item->value, &tensor)) {
        return graft_field_error(item, error, "expected name, dtype and shape");
    }
    return status == GRAFT_OK && graft_journal_add_tensor(journal, &tensor) != 0 ? graft_fail_memory(error, item->file)
                                                                                 : status;
}

/* [tensor, begin, count]. Returns 0 when it makes no sense. */
static int read_run(const graft_json *item, int64_t *at, struct journal_part *part) {
    int64_t begin = number_of(graft_json_at(item, 1)), count = number_of(graft_json_at(item, 2));
    if (begin < 0 || count <= 0 || count > INT64_MAX - *at) {
        return 0;
    }
    part->box = graft_box_run(*at, begin, count);
    *at += count;
    return graft_json_size(item) == 3;
}

/* [tensor, at, begin, [size, to, from]...]. Returns 0 when it makes no sense. */
static int read_box(const graft_json *item, struct journal_part *part) {
    size_t loops = graft_json_size(item);
    if (loops < 3 || loops > 3 + GRAFT_BOX_LOOPS) {
        return 0;
    }
    part->box = (struct graft_box){
        .at = number_of(graft_json_at(item, 1)),
        .begin = number_of(graft_json_at(item, 2)),
        .loops = (int32_t)(loops - 3),
    };
    for (int32_t i = 0; i < part->box.loops; i++) {
        const graft_json *loop = graft_json_at(item, 3 + (size_t)i);
        part->box.size[i] = number_of(graft_json_at(loop, 0));
        part->box.to[i] = number_of(graft_json_at(loop, 1));
        part->box.from[i] = number_of(graft_json_at(loop, 2));
    }
    return 1;
}

static int read_parts(const char *path, const graft_json *list, int are_runs, struct journal *journal,
                      struct journal_entry *entry, struct graft_error *error) {
    int64_t at = 0;
    for (size_t i = 0; i < graft_json_size(list); i++) {
        const graft_json *item = graft_json_at(list, i);
        int64_t tensor = number_of(graft_json_at(item, 0));
        struct journal_part part = {.tensor = (size_t)tensor};
        if (tensor < 0 || part.tensor >= journal->n_tensors ||
            !(are_runs ? read_run(item, &at, &part) : read_box(item, &part)) ||
            !graft_box_valid(&part.box, INT64_MAX, journal->tensors[part.tensor].count)) {
            return graft_error_set(error, GRAFT_ERROR_MODEL, path, "\"%.300s\": %s %zu is not %s inside a tensor",
                                   entry->name, are_runs ? "run" : "part", i,
                                   are_runs ? "[tensor, begin, count]" : "[tensor, at, begin, [size, to, from]...]");
        }
        if (graft_journal_add_part(entry, &part) != 0) {
            return graft_fail_memory(error, path);
        }
    }
    return GRAFT_OK;
}

/* The runs or parts of an object, an array; NULL: it has none. */
static const graft_json *parts_of(const graft_json *item, int *are_runs) {
    const graft_json *runs = graft_json_get(item, "runs");
    const graft_json *parts = runs != NULL ? runs : graft_json_get(item, "parts");
    *are_runs = runs != NULL;
    return graft_json_type(parts) == GRAFT_JSON_ARRAY ? parts : NULL;
}

/* Reads an input of a use: its type, its shape, and the tensors that it was made of. */
static int read_input(const struct graft_field *item, struct journal *journal, struct journal_use *use, int32_t k,
                      struct graft_error *error) {
    struct journal_tensor form = {0};
    int are_runs;
    const graft_json *parts = parts_of(item->value, &are_runs);
    if (!read_form(item->value, &form) || form.rank < 1 || form.count < 1 || graft_dtype_size(form.dtype) == 0 ||
        parts == NULL) {
        return graft_field_error(item, error, "an input needs dtype, shape, and runs or parts");
    }
    use->inputs[k] =
        (struct graft_value_info){.struct_size = sizeof use->inputs[k], .dtype = form.dtype, .rank = form.rank};
    memcpy(use->inputs[k].shape, form.shape, sizeof form.shape);
    use->origins[k].name = use->name;
    int status = read_parts(item->file, parts, are_runs, journal, &use->origins[k], error);
    for (size_t i = 0; i < use->origins[k].n_parts && status == GRAFT_OK; i++) {
        const struct journal_part *part = &use->origins[k].parts[i];
        const struct journal_tensor *tensor = &journal->tensors[part->tensor];
        if ((tensor->made && part->tensor >= use->first) || !graft_box_valid(&part->box, form.count, tensor->count)) {
            status =
                graft_field_error(item, error, "an input is made of what comes later, or of more than it has room for");
        }
    }
    return status;
}

static int read_use(const struct graft_field *item, struct journal *journal, struct graft_error *error) {
    struct fields {
        const char *name, *plugin;
    } fields = {0};
    static const struct graft_member members[] = {
        {"name", .offset = offsetof(struct fields, name), .is_filled = 1},
        {"plugin", .offset = offsetof(struct fields, plugin), .is_filled = 1},
        {0},
    };
    const struct graft_field inputs = graft_field_get(item, "inputs");
    const graft_json *outputs = graft_json_get(item->value, "outputs");
    int64_t first = number_of(graft_json_at(outputs, 0)), n = number_of(graft_json_at(outputs, 1));
    const struct journal_use *last = journal->n_uses > 0 ? &journal->uses[journal->n_uses - 1] : NULL;
    int64_t least = last != NULL ? (int64_t)last->first + last->n_outputs : 0;
    int status = graft_field_read_some(item, members, &fields, error);
    int sound = graft_json_size(inputs.value) >= 1 && graft_json_size(inputs.value) <= MAX_INPUTS && n >= 1 &&
                n <= MAX_INPUTS && first >= least && first <= (int64_t)journal->n_tensors - n;
    for (int64_t k = 0; k < n && sound; k++) {
        const struct journal_tensor *tensor = &journal->tensors[first + k];
        sound = tensor->made && tensor->count > 0 && graft_dtype_size(tensor->dtype) > 0;
    }
    if (status != GRAFT_OK || !sound) {
        return status != GRAFT_OK
                   ? status
                   : graft_field_error(item, error, "expected inputs, and outputs that are made in this order");
    }
    struct journal_use *use = graft_journal_add_use(journal, (int32_t)graft_json_size(inputs.value), (int32_t)n);
    if (use == NULL) {
        return graft_fail_memory(error, item->file);
    }
    use->name = fields.name;
    use->plugin = fields.plugin;
    use->first = (size_t)first;
    for (int32_t k = 0; k < use->n_outputs; k++) {
        const struct journal_tensor *tensor = &journal->tensors[first + k];
        use->outputs[k] = (struct graft_value_info){
            .struct_size = sizeof use->outputs[k], .dtype = tensor->dtype, .rank = tensor->rank};
        memcpy(use->outputs[k].shape, tensor->shape, sizeof tensor->shape);
    }
    for (int32_t k = 0; k < use->n_inputs && status == GRAFT_OK; k++) {
        const struct graft_field input = graft_field_at(&inputs, (size_t)k);
        status = read_input(&input, journal, use, k, error);
    }
    return status;
}

static int read_entry(const struct graft_field *item, struct journal *journal, struct graft_error *error) {
    static const struct graft_member members[] = {{"name", .kind = GRAFT_MEMBER_TEXT, .is_filled = 1}, {0}};
    const char *name = NULL;
    int are_runs;
    const graft_json *parts = parts_of(item->value, &are_runs);
    int status = graft_field_read_some(item, members, &name, error);
    if (status == GRAFT_OK && parts == NULL) {
        return graft_field_error(item, error, "expected name, and runs or parts");
    }
    if (status == GRAFT_OK && graft_journal_add_entry(journal, name) != 0) {
        return graft_fail_memory(error, item->file);
    }
    return status == GRAFT_OK
               ? read_parts(item->file, parts, are_runs, journal, &journal->entries[journal->n_entries - 1], error)
               : status;
}

static int check_entries(const char *path, struct journal *journal, struct graft_error *error) {
    graft_journal_sort(journal);
    for (size_t i = 1; i < journal->n_entries; i++) {
        if (strcmp(journal->entries[i - 1].name, journal->entries[i].name) == 0) {
            return graft_error_set(error, GRAFT_ERROR_MODEL, path, "parameters: \"%.300s\" appears twice",
                                   journal->entries[i].name);
        }
    }
    return GRAFT_OK;
}

static int read_absent(const struct graft_field *item, struct journal *journal, struct graft_error *error) {
    size_t length = 0;
    const char *name = graft_json_string(item->value, &length);
    if (name == NULL || strlen(name) != length) {
        return graft_field_error(item, error, "expected the name of a parameter");
    }
    return graft_journal_add_absent(journal, name) != 0 ? graft_fail_memory(error, item->file) : GRAFT_OK;
}

static int read_document(const char *path, struct journal *journal, struct graft_error *error) {
    static const struct {
        const char *key;
        int (*read)(const struct graft_field *item, struct journal *journal, struct graft_error *error);
    } lists[] = {
        {"replacements", read_class}, {"options", read_option}, {"absent", read_absent},
        {"tensors", read_tensor},     {"operations", read_use}, {"parameters", read_entry},
    };
    int status = graft_json_read_strict(path, MAX_JOURNAL_BYTES, &journal->document, error);
    const struct graft_field root = graft_field_root(journal->document, path);
    if (status == GRAFT_OK && number_of(graft_json_get(root.value, "version")) != VERSION) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, path, "version: expected %d", VERSION);
    }
    for (size_t k = 0; k < sizeof lists / sizeof lists[0] && status == GRAFT_OK; k++) {
        const struct graft_field list = graft_field_get(&root, lists[k].key);
        for (size_t i = 0; i < graft_json_size(list.value) && status == GRAFT_OK; i++) {
            const struct graft_field item = graft_field_at(&list, i);
            status = lists[k].read(&item, journal, error);
        }
    }
    return status == GRAFT_OK ? check_entries(path, journal, error) : status;
}

int graft_journal_read(const char *directory, struct journal *journal, struct graft_error *error) {
    char *path = graft_path_join(directory, SAVE_JOURNAL_FILE);
    *journal = (struct journal){0};
    if (path == NULL) {
        return graft_fail_memory(error, directory);
    }
    int status = graft_file_exists(path) ? read_document(path, journal, error) : GRAFT_OK;
    graft_free(path);
    if (status != GRAFT_OK) {
        graft_journal_finish(journal);
    }
    return status;
}

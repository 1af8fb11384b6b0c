/* SPDX-License-Identifier: Apache-2.0 */
/* Reads graft_journal.json, which is untrusted, like everything in a model directory. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/dtype.h"
#include "base/fail.h"
#include "base/file.h"
#include "save/journal.h"

enum { MAX_JOURNAL_BYTES = 256 << 20, VERSION = 1, MAX_INPUTS = 1 << 16 };

static int malformed(const char *path, const char *list, size_t index, const char *what, struct graft_error *error) {
    return graft_error_set(error, GRAFT_ERROR_MODEL, path, "%s[%zu]: %s", list, index, what);
}

/* A string member without NUL bytes, or NULL. */
static const char *string_of(const graft_json *object, const char *key) {
    size_t length = 0;
    const char *text = graft_json_string(graft_json_get(object, key), &length);
    return text != NULL && strlen(text) == length ? text : NULL;
}

/* A non-empty string member without NUL bytes, or NULL. */
static const char *text_of(const graft_json *object, const char *key) {
    const char *text = string_of(object, key);
    return text != NULL && text[0] != '\0' ? text : NULL;
}

/* A number that is not negative, or -1. */
static int64_t number_of(const graft_json *value) {
    return graft_json_type(value) == GRAFT_JSON_INT ? graft_json_int(value) : -1;
}

static int read_classes(const char *path, const graft_json *list, struct journal *journal, struct graft_error *error) {
    for (size_t i = 0; i < graft_json_size(list); i++) {
        const graft_json *item = graft_json_at(list, i);
        struct journal_class cls = {text_of(item, "class"), text_of(item, "original_class"), text_of(item, "plugin")};
        if (cls.class_name == NULL || cls.original == NULL || cls.plugin == NULL) {
            return malformed(path, "replacements", i, "expected class, original_class and plugin", error);
        }
        if (graft_journal_add_class(journal, &cls) != 0) {
            return graft_fail_memory(error, path);
        }
    }
    return GRAFT_OK;
}

static int read_options(const char *path, const graft_json *list, struct journal *journal, struct graft_error *error) {
    for (size_t i = 0; i < graft_json_size(list); i++) {
        const graft_json *item = graft_json_at(list, i);
        const struct journal_option option = {text_of(item, "plugin"), text_of(item, "name"), string_of(item, "value")};
        if (option.plugin == NULL || option.name == NULL || option.value == NULL) {
            return malformed(path, "options", i, "expected plugin, name and value", error);
        }
        if (graft_journal_add_option(journal, &option) != 0) {
            return graft_fail_memory(error, path);
        }
    }
    return GRAFT_OK;
}

/* Fills in type and shape. Returns 0 when they make no sense. */
static int read_form(const graft_json *item, struct journal_tensor *tensor) {
    const char *dtype = text_of(item, "dtype");
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

static int read_tensors(const char *path, const graft_json *list, struct journal *journal, struct graft_error *error) {
    for (size_t i = 0; i < graft_json_size(list); i++) {
        const graft_json *item = graft_json_at(list, i);
        struct journal_tensor tensor = {.name = text_of(item, "name"),
                                        .lost = text_of(item, "lost"),
                                        .made = graft_json_bool(graft_json_get(item, "made"))};
        if (tensor.name == NULL || !read_form(item, &tensor)) {
            return malformed(path, "tensors", i, "expected name, dtype and shape", error);
        }
        if (graft_journal_add_tensor(journal, &tensor) != 0) {
            return graft_fail_memory(error, path);
        }
    }
    return GRAFT_OK;
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

/* Reads an input of a use: its type, its shape, and the tensors that it was made of. */
static int read_input(const char *path, const graft_json *item, struct journal *journal, struct journal_use *use,
                      int32_t k, struct graft_error *error) {
    struct journal_tensor form = {0};
    const graft_json *runs = graft_json_get(item, "runs");
    const graft_json *parts = runs != NULL ? runs : graft_json_get(item, "parts");
    if (!read_form(item, &form) || form.rank < 1 || form.count < 1 || graft_dtype_size(form.dtype) == 0 ||
        graft_json_type(parts) != GRAFT_JSON_ARRAY) {
        return malformed(path, "operations", journal->n_uses - 1, "an input needs dtype, shape, and runs or parts",
                         error);
    }
    use->inputs[k] =
        (struct graft_value_info){.struct_size = sizeof use->inputs[k], .dtype = form.dtype, .rank = form.rank};
    memcpy(use->inputs[k].shape, form.shape, sizeof form.shape);
    use->origins[k].name = use->name;
    int status = read_parts(path, parts, runs != NULL, journal, &use->origins[k], error);
    for (size_t i = 0; i < use->origins[k].n_parts && status == GRAFT_OK; i++) {
        const struct journal_part *part = &use->origins[k].parts[i];
        const struct journal_tensor *tensor = &journal->tensors[part->tensor];
        if ((tensor->made && part->tensor >= use->first) || !graft_box_valid(&part->box, form.count, tensor->count)) {
            status = malformed(path, "operations", journal->n_uses - 1,
                               "an input is made of what comes later, or of more than it has room for", error);
        }
    }
    return status;
}

static int read_use(const char *path, const graft_json *item, size_t i, struct journal *journal,
                    struct graft_error *error) {
    const graft_json *inputs = graft_json_get(item, "inputs"), *outputs = graft_json_get(item, "outputs");
    const char *name = text_of(item, "name"), *plugin = text_of(item, "plugin");
    int64_t first = number_of(graft_json_at(outputs, 0)), n = number_of(graft_json_at(outputs, 1));
    const struct journal_use *last = i > 0 ? &journal->uses[i - 1] : NULL;
    int64_t least = last != NULL ? (int64_t)last->first + last->n_outputs : 0;
    int sound = name != NULL && plugin != NULL && graft_json_size(inputs) >= 1 &&
                graft_json_size(inputs) <= MAX_INPUTS && n >= 1 && n <= MAX_INPUTS && first >= least &&
                first <= (int64_t)journal->n_tensors - n;
    for (int64_t k = 0; k < n && sound; k++) {
        const struct journal_tensor *tensor = &journal->tensors[first + k];
        sound = tensor->made && tensor->count > 0 && graft_dtype_size(tensor->dtype) > 0;
    }
    if (!sound) {
        return malformed(path, "operations", i, "expected name, plugin, inputs and outputs that are made in this order",
                         error);
    }
    struct journal_use *use = graft_journal_add_use(journal, (int32_t)graft_json_size(inputs), (int32_t)n);
    if (use == NULL) {
        return graft_fail_memory(error, path);
    }
    use->name = name;
    use->plugin = plugin;
    use->first = (size_t)first;
    for (int32_t k = 0; k < use->n_outputs; k++) {
        const struct journal_tensor *tensor = &journal->tensors[first + k];
        use->outputs[k] = (struct graft_value_info){
            .struct_size = sizeof use->outputs[k], .dtype = tensor->dtype, .rank = tensor->rank};
        memcpy(use->outputs[k].shape, tensor->shape, sizeof tensor->shape);
    }
    int status = GRAFT_OK;
    for (int32_t k = 0; k < use->n_inputs && status == GRAFT_OK; k++) {
        status = read_input(path, graft_json_at(inputs, (size_t)k), journal, use, k, error);
    }
    return status;
}

static int read_uses(const char *path, const graft_json *list, struct journal *journal, struct graft_error *error) {
    int status = GRAFT_OK;
    for (size_t i = 0; i < graft_json_size(list) && status == GRAFT_OK; i++) {
        status = read_use(path, graft_json_at(list, i), i, journal, error);
    }
    return status;
}

static int read_entries(const char *path, const graft_json *list, struct journal *journal, struct graft_error *error) {
    for (size_t i = 0; i < graft_json_size(list); i++) {
        const graft_json *item = graft_json_at(list, i);
        const graft_json *runs = graft_json_get(item, "runs");
        const graft_json *parts = runs != NULL ? runs : graft_json_get(item, "parts");
        const char *name = text_of(item, "name");
        if (name == NULL || graft_json_type(parts) != GRAFT_JSON_ARRAY) {
            return malformed(path, "parameters", i, "expected name, and runs or parts", error);
        }
        if (graft_journal_add_entry(journal, name) != 0) {
            return graft_fail_memory(error, path);
        }
        int status = read_parts(path, parts, runs != NULL, journal, &journal->entries[journal->n_entries - 1], error);
        if (status != GRAFT_OK) {
            return status;
        }
    }
    graft_journal_sort(journal);
    for (size_t i = 1; i < journal->n_entries; i++) {
        if (strcmp(journal->entries[i - 1].name, journal->entries[i].name) == 0) {
            return graft_error_set(error, GRAFT_ERROR_MODEL, path, "parameters: \"%.300s\" appears twice",
                                   journal->entries[i].name);
        }
    }
    return GRAFT_OK;
}

static int read_absent(const char *path, const graft_json *list, struct journal *journal, struct graft_error *error) {
    for (size_t i = 0; i < graft_json_size(list); i++) {
        size_t length = 0;
        const char *name = graft_json_string(graft_json_at(list, i), &length);
        if (name == NULL || strlen(name) != length) {
            return malformed(path, "absent", i, "expected the name of a parameter", error);
        }
        if (graft_journal_add_absent(journal, name) != 0) {
            return graft_fail_memory(error, path);
        }
    }
    return GRAFT_OK;
}

static int read_document(const char *path, struct journal *journal, struct graft_error *error) {
    int status = graft_json_read_strict(path, MAX_JOURNAL_BYTES, &journal->document, error);
    if (status != GRAFT_OK) {
        return status;
    }
    if (number_of(graft_json_get(journal->document, "version")) != VERSION) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, path, "version: expected %d", VERSION);
    }
    status = read_classes(path, graft_json_get(journal->document, "replacements"), journal, error);
    if (status == GRAFT_OK) {
        status = read_options(path, graft_json_get(journal->document, "options"), journal, error);
    }
    if (status == GRAFT_OK) {
        status = read_absent(path, graft_json_get(journal->document, "absent"), journal, error);
    }
    if (status == GRAFT_OK) {
        status = read_tensors(path, graft_json_get(journal->document, "tensors"), journal, error);
    }
    if (status == GRAFT_OK) {
        status = read_uses(path, graft_json_get(journal->document, "operations"), journal, error);
    }
    return status == GRAFT_OK ? read_entries(path, graft_json_get(journal->document, "parameters"), journal, error)
                              : status;
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

/* SPDX-License-Identifier: Apache-2.0 */
#include "names/transform_read.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "value/operations.h"

enum { MAX_OPERATIONS = 64, MAX_FIELD = 256, MAX_DIM = 64 };

static const char *const kinds[] = {
    [GRAFT_TRANSFORM_RENAME] = "rename",
    [GRAFT_TRANSFORM_GROUP_RENAME] = "group_rename",
    [GRAFT_TRANSFORM_INDEX_OFFSET_RENAME] = "index_offset_rename",
    [GRAFT_TRANSFORM_PREFIX_CHANGE] = "prefix_change",
    [GRAFT_TRANSFORM_CONVERTER] = "converter",
};

int graft_transforms_read_keep(struct transforms_read *read, void *block_take, const char *file,
                               struct graft_error *error) {
    if (block_take == NULL || graft_grow(&read->blocks, &read->block_capacity, read->n_blocks, sizeof(void *)) != 0) {
        graft_free(block_take);
        return graft_fail_memory(error, file);
    }
    read->blocks[read->n_blocks++] = block_take;
    return GRAFT_OK;
}

void graft_transforms_read_finish(struct transforms_read *read) {
    for (size_t i = 0; i < read->n_blocks; i++) {
        graft_free(read->blocks[i]);
    }
    graft_free(read->blocks);
    graft_free(read->items);
    *read = (struct transforms_read){0};
}

static int read_strings(const struct json_place *place, const graft_json *object, const char *key,
                        struct transforms_read *read, const char *const **strings, int32_t *n,
                        struct graft_error *error) {
    const char **list;
    size_t count;
    int status = graft_json_place_strings(place, object, key, &list, &count, error);
    if (status == GRAFT_OK) {
        status = graft_transforms_read_keep(read, list, place->file, error);
    }
    if (status == GRAFT_OK && count > INT32_MAX) {
        status = graft_error_set(error, GRAFT_ERROR_USAGE, place->file, "%s.%s: too long", place->field, key);
    }
    if (status == GRAFT_OK) {
        *strings = list;
        *n = (int32_t)count;
    }
    return status;
}

/* Reads an optional integer between `least` and `most`. */
static int read_int(const struct json_place *place, const graft_json *object, const char *key, int64_t least,
                    int64_t most, int64_t *number, struct graft_error *error) {
    const graft_json *value = graft_json_get(object, key);
    int64_t found = graft_json_int(value);
    if (value == NULL || graft_json_type(value) == GRAFT_JSON_NULL) {
        return GRAFT_OK;
    }
    if (graft_json_type(value) != GRAFT_JSON_INT) {
        return graft_json_place_wrong(place, key, "an integer", value, error);
    }
    if (found < least || found > most) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, place->file, "%s.%s: expected %lld to %lld, got %lld",
                               place->field, key, (long long)least, (long long)most, (long long)found);
    }
    *number = found;
    return GRAFT_OK;
}

static int read_bool(const struct json_place *place, const graft_json *object, const char *key, int32_t *truth,
                     struct graft_error *error) {
    const graft_json *value = graft_json_get(object, key);
    if (value != NULL && graft_json_type(value) != GRAFT_JSON_BOOL) {
        return graft_json_place_wrong(place, key, "true or false", value, error);
    }
    *truth = graft_json_bool(value);
    return GRAFT_OK;
}

/* The fields that one kind of operation has. */
static const char *const *operation_fields(int32_t kind) {
    static const char *const transpose[] = {"op", "dim0", "dim1", "check_dims", NULL};
    static const char *const interleave[] = {"op", "dim", "inverse", NULL};
    static const char *const conv[] = {"op", "in_channels", "kernel_size", NULL};
    static const char *const rope[] = {"op", "subconfig_key", "permute_layer_names", "inverse", NULL};
    static const char *const shards[] = {"op", "dim", "num_shards_attribute", NULL};
    static const char *const custom[] = {"op", NULL};
    static const char *const slice[] = {"op", "dim", "begin", "length", "of", NULL};
    static const char *const experts[] = {"op", "stack_dim", "concat_dim", NULL};
    static const char *const others[] = {"op", "dim", NULL};
    switch (kind) {
    case GRAFT_OP_TRANSPOSE:
        return transpose;
    case GRAFT_OP_INTERLEAVE:
        return interleave;
    case GRAFT_OP_CONV3D_TO_LINEAR:
    case GRAFT_OP_LINEAR_TO_CONV3D:
        return conv;
    case GRAFT_OP_PERMUTE_FOR_ROPE:
        return rope;
    case GRAFT_OP_CONCATENATE:
    case GRAFT_OP_CHUNK:
        return shards;
    case GRAFT_OP_CUSTOM:
        return custom;
    case GRAFT_OP_SLICE:
        return slice;
    case GRAFT_OP_ERNIE_FUSE_AND_SPLIT_TEXT_VISION_EXPERTS:
    case GRAFT_OP_ERNIE_SPLIT_AND_DECOUPLE_TEXT_VISION_EXPERTS:
        return experts;
    default:
        return others;
    }
}

static int read_kernel(const struct json_place *place, const graft_json *object, struct graft_operation *operation,
                       struct graft_error *error) {
    const graft_json *sizes = graft_json_get(object, "kernel_size");
    int status = read_int(place, object, "in_channels", 1, INT32_MAX, &operation->in_channels, error);
    if (status == GRAFT_OK && (operation->in_channels == 0 || graft_json_size(sizes) != 3)) {
        status = graft_error_set(error, GRAFT_ERROR_USAGE, place->file,
                                 "%s: expected in_channels and kernel_size, an array of 3 integers", place->field);
    }
    for (size_t i = 0; i < 3 && status == GRAFT_OK; i++) {
        const graft_json *size = graft_json_at(sizes, i);
        operation->kernel_size[i] = graft_json_int(size);
        if (operation->kernel_size[i] < 1 || operation->kernel_size[i] > INT32_MAX) {
            status = graft_json_place_wrong(place, "kernel_size", "3 integers above 0", size, error);
        }
    }
    return status;
}

static int read_slice(const struct json_place *place, const graft_json *object, struct graft_operation *operation,
                      struct graft_error *error) {
    int status = read_int(place, object, "begin", 0, INT32_MAX, &operation->begin, error);
    if (status == GRAFT_OK) {
        status = read_int(place, object, "length", 1, INT32_MAX, &operation->length, error);
    }
    if (status == GRAFT_OK && operation->length == 0) {
        status = graft_error_set(error, GRAFT_ERROR_USAGE, place->file, "%s: a Slice needs a length", place->field);
    }
    return status == GRAFT_OK
               ? read_int(place, object, "of", operation->begin + operation->length, INT32_MAX, &operation->of, error)
               : status;
}

/* Reads the dimensions, which some kinds name differently. */
static int read_dims(const struct json_place *place, const graft_json *object, struct graft_operation *operation,
                     struct graft_error *error) {
    const int is_experts = operation->kind == GRAFT_OP_ERNIE_FUSE_AND_SPLIT_TEXT_VISION_EXPERTS ||
                           operation->kind == GRAFT_OP_ERNIE_SPLIT_AND_DECOUPLE_TEXT_VISION_EXPERTS;
    const int is_transpose = operation->kind == GRAFT_OP_TRANSPOSE;
    operation->dim1 = is_transpose || is_experts;
    int status = read_int(place, object,
                          is_transpose ? "dim0"
                          : is_experts ? "stack_dim"
                                       : "dim",
                          -MAX_DIM, MAX_DIM, &operation->dim, error);
    return status == GRAFT_OK
               ? read_int(place, object, is_experts ? "concat_dim" : "dim1", -MAX_DIM, MAX_DIM, &operation->dim1, error)
               : status;
}

static int read_operation(const struct json_place *place, const graft_json *object, struct transforms_read *read,
                          struct graft_operation *operation, struct graft_error *error) {
    const char *name = graft_json_string(graft_json_get(object, "op"), NULL);
    int32_t kind = name != NULL ? graft_operation_kind(name) : 0;
    int32_t n = 0;
    int status = GRAFT_OK;
    *operation = (struct graft_operation){.struct_size = sizeof *operation};
    if (kind == 0) {
        kind = GRAFT_OP_CUSTOM;
        status = graft_named_operation_find(read->operations, read->n_operations, name != NULL ? name : "", place,
                                            &operation->custom, error);
    }
    operation->kind = kind;
    if (status == GRAFT_OK) {
        status = graft_json_place_only(place, object, operation_fields(kind), error);
    }
    if (status == GRAFT_OK) {
        status = read_dims(place, object, operation, error);
    }
    if (status == GRAFT_OK) {
        status = read_bool(place, object, "check_dims", &operation->check_dims, error);
    }
    if (status == GRAFT_OK) {
        status = read_bool(place, object, "inverse", &operation->inverse, error);
    }
    if (status == GRAFT_OK) {
        status =
            graft_json_place_string(place, object, "num_shards_attribute", &operation->num_shards_attribute, error);
    }
    if (status == GRAFT_OK) {
        status = graft_json_place_string(place, object, "subconfig_key", &operation->subconfig_key, error);
    }
    const graft_json *names = graft_json_get(object, "permute_layer_names");
    if (status == GRAFT_OK && names != NULL && graft_json_type(names) != GRAFT_JSON_NULL) {
        status = read_strings(place, object, "permute_layer_names", read, &operation->permute_layer_names, &n, error);
    }
    if (status == GRAFT_OK && (kind == GRAFT_OP_CONV3D_TO_LINEAR || kind == GRAFT_OP_LINEAR_TO_CONV3D)) {
        status = read_kernel(place, object, operation, error);
    }
    if (status == GRAFT_OK && kind == GRAFT_OP_SLICE) {
        status = read_slice(place, object, operation, error);
    }
    return status;
}

int graft_operations_read(const struct json_place *place, const graft_json *object, struct transforms_read *read,
                          const struct graft_operation **operations, int32_t *n, struct graft_error *error) {
    const graft_json *array = graft_json_get(object, "operations");
    size_t count = graft_json_size(array);
    if (graft_json_type(array) != GRAFT_JSON_ARRAY || count > MAX_OPERATIONS) {
        return graft_json_place_wrong(place, "operations", "an array of operations", array, error);
    }
    struct graft_operation *list = graft_alloc(count, sizeof *list);
    int status = graft_transforms_read_keep(read, list, place->file, error);
    for (size_t i = 0; i < count && status == GRAFT_OK; i++) {
        char field[MAX_FIELD];
        (void)snprintf(field, sizeof field, "%s.operations[%zu]", place->field, i);
        const struct json_place inner = {place->file, field};
        status = read_operation(&inner, graft_json_at(array, i), read, &list[i], error);
    }
    *operations = list;
    *n = (int32_t)count;
    return status;
}

static const char *const *transform_fields(int32_t kind) {
    static const char *const prefix[] = {
        "kind", "prefix_to_add", "prefix_to_remove", "model_prefix", "scope_prefix", "base_model_prefix", NULL};
    static const char *const offset[] = {
        "kind", "source_patterns", "target_patterns", "offset", "scope_prefix", "base_model_prefix", NULL};
    static const char *const converter[] = {
        "kind", "source_patterns", "target_patterns", "operations", "scope_prefix", "base_model_prefix", NULL};
    static const char *const rename[] = {"kind",         "source_patterns",   "target_patterns",
                                         "scope_prefix", "base_model_prefix", NULL};
    return kind == GRAFT_TRANSFORM_PREFIX_CHANGE         ? prefix
           : kind == GRAFT_TRANSFORM_INDEX_OFFSET_RENAME ? offset
           : kind == GRAFT_TRANSFORM_CONVERTER           ? converter
                                                         : rename;
}

static int read_kind(const struct json_place *place, const graft_json *object, int32_t *kind,
                     struct graft_error *error) {
    const char *name = graft_json_string(graft_json_get(object, "kind"), NULL);
    *kind = GRAFT_TRANSFORM_CONVERTER;
    while (*kind > 0 && (name == NULL || strcmp(kinds[*kind], name) != 0)) {
        --*kind;
    }
    if (*kind == 0) {
        return graft_json_place_wrong(place, "kind",
                                      "\"rename\", \"group_rename\", \"index_offset_rename\", \"prefix_change\" or "
                                      "\"converter\"",
                                      graft_json_get(object, "kind"), error);
    }
    return GRAFT_OK;
}

/* Reads the members that all kinds share, and the prefixes. */
static int read_names(const struct json_place *place, const graft_json *object,
                      struct graft_weight_transform *transform, struct graft_error *error) {
    const struct {
        const char *key;
        const char **name;
    } names[] = {
        {"prefix_to_add", &transform->prefix_to_add},         {"prefix_to_remove", &transform->prefix_to_remove},
        {"model_prefix", &transform->model_prefix},           {"scope_prefix", &transform->scope_prefix},
        {"base_model_prefix", &transform->base_model_prefix},
    };
    int status = GRAFT_OK;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && status == GRAFT_OK; i++) {
        status = graft_json_place_string(place, object, names[i].key, names[i].name, error);
    }
    return status;
}

int graft_transform_read(const graft_json *value, const char *file, const char *field, struct transforms_read *read,
                         struct graft_error *error) {
    const struct json_place place = {file, field};
    struct graft_weight_transform transform = {.struct_size = sizeof transform};
    if (graft_json_type(value) != GRAFT_JSON_OBJECT) {
        return graft_json_place_wrong(&place, "", "an object", value, error);
    }
    int status = read_kind(&place, value, &transform.kind, error);
    if (status == GRAFT_OK) {
        status = graft_json_place_only(&place, value, transform_fields(transform.kind), error);
    }
    if (status == GRAFT_OK && transform.kind != GRAFT_TRANSFORM_PREFIX_CHANGE) {
        status = read_strings(&place, value, "source_patterns", read, &transform.source_patterns, &transform.n_sources,
                              error);
    }
    if (status == GRAFT_OK && transform.kind != GRAFT_TRANSFORM_PREFIX_CHANGE) {
        status = read_strings(&place, value, "target_patterns", read, &transform.target_patterns, &transform.n_targets,
                              error);
    }
    if (status == GRAFT_OK) {
        status = read_int(&place, value, "offset", -INT32_MAX, INT32_MAX, &transform.offset, error);
    }
    if (status == GRAFT_OK) {
        status = read_names(&place, value, &transform, error);
    }
    if (status == GRAFT_OK && transform.kind == GRAFT_TRANSFORM_CONVERTER) {
        status = graft_operations_read(&place, value, read, &transform.operations, &transform.n_operations, error);
        transform.operation_stride = sizeof *transform.operations;
    }
    if (status == GRAFT_OK && graft_grow(&read->items, &read->capacity, read->n, sizeof transform) != 0) {
        status = graft_fail_memory(error, file);
    }
    if (status == GRAFT_OK) {
        read->items[read->n++] = transform;
    }
    return status;
}

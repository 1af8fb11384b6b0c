/* SPDX-License-Identifier: Apache-2.0 */
#include "names/transform_read.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "value/operations.h"

enum { MAX_OPERATIONS = 64, MAX_DIM = 64 };

static const char *const kinds[] = {
    [GRAFT_TRANSFORM_RENAME - 1] = "rename",
    [GRAFT_TRANSFORM_GROUP_RENAME - 1] = "group_rename",
    [GRAFT_TRANSFORM_INDEX_OFFSET_RENAME - 1] = "index_offset_rename",
    [GRAFT_TRANSFORM_PREFIX_CHANGE - 1] = "prefix_change",
    [GRAFT_TRANSFORM_CONVERTER - 1] = "converter",
    NULL,
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

static int read_strings(const struct graft_field *object, const char *key, struct transforms_read *read,
                        const char *const **strings, int32_t *n, struct graft_error *error) {
    const char **list;
    size_t count;
    int status = graft_field_strings(object, key, &list, &count, error);
    if (status == GRAFT_OK) {
        status = graft_transforms_read_keep(read, list, object->file, error);
    }
    if (status == GRAFT_OK && count > INT32_MAX) {
        status = graft_field_error(object, error, "%s is too long", key);
    }
    if (status == GRAFT_OK) {
        *strings = list;
        *n = (int32_t)count;
    }
    return status;
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

static int read_kernel(const struct graft_field *object, struct graft_operation *operation, struct graft_error *error) {
    const struct graft_field sizes = graft_field_get(object, "kernel_size");
    if (operation->in_channels == 0 || graft_json_size(sizes.value) != 3) {
        return graft_field_error(object, error, "expected in_channels and kernel_size, an array of 3 integers");
    }
    for (size_t i = 0; i < 3; i++) {
        operation->kernel_size[i] = graft_json_int(graft_json_at(sizes.value, i));
        if (operation->kernel_size[i] < 1 || operation->kernel_size[i] > INT32_MAX) {
            return graft_field_error(&sizes, error, "expected 3 integers above 0");
        }
    }
    return GRAFT_OK;
}

/* The members of all kinds of operations; some kinds name a dimension differently. */
static const struct graft_member operation_members[] = {
    {"dim", GRAFT_MEMBER_INT, offsetof(struct graft_operation, dim), 1, .least = -MAX_DIM, .most = MAX_DIM},
    {"dim0", GRAFT_MEMBER_INT, offsetof(struct graft_operation, dim), 1, .least = -MAX_DIM, .most = MAX_DIM},
    {"stack_dim", GRAFT_MEMBER_INT, offsetof(struct graft_operation, dim), 1, .least = -MAX_DIM, .most = MAX_DIM},
    {"dim1", GRAFT_MEMBER_INT, offsetof(struct graft_operation, dim1), 1, .least = -MAX_DIM, .most = MAX_DIM},
    {"concat_dim", GRAFT_MEMBER_INT, offsetof(struct graft_operation, dim1), 1, .least = -MAX_DIM, .most = MAX_DIM},
    {"check_dims", GRAFT_MEMBER_FLAG, .offset = offsetof(struct graft_operation, check_dims), .is_optional = 1},
    {"inverse", GRAFT_MEMBER_FLAG, .offset = offsetof(struct graft_operation, inverse), .is_optional = 1},
    {"num_shards_attribute", .offset = offsetof(struct graft_operation, num_shards_attribute), .is_optional = 1},
    {"subconfig_key", .offset = offsetof(struct graft_operation, subconfig_key), .is_optional = 1},
    {"in_channels", GRAFT_MEMBER_INT, offsetof(struct graft_operation, in_channels), 1, .least = 1, .most = INT32_MAX},
    {"begin", GRAFT_MEMBER_INT, offsetof(struct graft_operation, begin), 1, .most = INT32_MAX},
    {"length", GRAFT_MEMBER_INT, offsetof(struct graft_operation, length), 1, .least = 1, .most = INT32_MAX},
    {"of", GRAFT_MEMBER_INT, offsetof(struct graft_operation, of), 1, .least = 1, .most = INT32_MAX},
    {0},
};

static int read_operation(const struct graft_field *object, struct transforms_read *read,
                          struct graft_operation *operation, struct graft_error *error) {
    const struct graft_field names = graft_field_get(object, "permute_layer_names");
    const char *name = graft_json_string(graft_json_get(object->value, "op"), NULL);
    int32_t kind = name != NULL ? graft_operation_kind(name) : 0;
    int32_t n = 0;
    int status = GRAFT_OK;
    *operation = (struct graft_operation){.struct_size = sizeof *operation};
    if (kind == 0) {
        kind = GRAFT_OP_CUSTOM;
        status = graft_named_operation_find(read->operations, read->n_operations, name != NULL ? name : "", object,
                                            &operation->custom, error);
    }
    operation->kind = kind;
    operation->dim1 = kind == GRAFT_OP_TRANSPOSE || kind == GRAFT_OP_ERNIE_FUSE_AND_SPLIT_TEXT_VISION_EXPERTS ||
                      kind == GRAFT_OP_ERNIE_SPLIT_AND_DECOUPLE_TEXT_VISION_EXPERTS;
    if (status == GRAFT_OK) {
        status = graft_field_object(object, operation_fields(kind), error);
    }
    if (status == GRAFT_OK) {
        status = graft_field_read_some(object, operation_members, operation, error);
    }
    if (status == GRAFT_OK && !graft_field_is_none(&names)) {
        status = read_strings(object, names.key, read, &operation->permute_layer_names, &n, error);
    }
    if (status == GRAFT_OK && (kind == GRAFT_OP_CONV3D_TO_LINEAR || kind == GRAFT_OP_LINEAR_TO_CONV3D)) {
        status = read_kernel(object, operation, error);
    }
    if (status == GRAFT_OK && kind == GRAFT_OP_SLICE && operation->length == 0) {
        status = graft_field_error(object, error, "a Slice needs a length");
    }
    if (status == GRAFT_OK && operation->of > 0 && operation->of < operation->begin + operation->length) {
        const struct graft_field of = graft_field_get(object, "of");
        status = graft_field_error(&of, error, "expected at least begin and length together (%lld), got %lld",
                                   (long long)(operation->begin + operation->length), (long long)operation->of);
    }
    return status;
}

int graft_operations_read(const struct graft_field *object, struct transforms_read *read,
                          const struct graft_operation **operations, int32_t *n, struct graft_error *error) {
    const struct graft_field array = graft_field_get(object, "operations");
    size_t count = graft_json_size(array.value);
    if (graft_json_type(array.value) != GRAFT_JSON_ARRAY || count > MAX_OPERATIONS) {
        return graft_field_wrong(&array, "an array of at most 64 operations", error);
    }
    struct graft_operation *list = graft_alloc(count, sizeof *list);
    int status = graft_transforms_read_keep(read, list, object->file, error);
    for (size_t i = 0; i < count && status == GRAFT_OK; i++) {
        const struct graft_field operation = graft_field_at(&array, i);
        status = read_operation(&operation, read, &list[i], error);
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

int graft_transform_read(const struct graft_field *object, struct transforms_read *read, struct graft_error *error) {
    static const struct graft_member kind_member[] = {{"kind", GRAFT_MEMBER_CHOICE, .names = kinds}, {0}};
    static const struct graft_member members[] = {
        {"prefix_to_add", .offset = offsetof(struct graft_weight_transform, prefix_to_add), .is_optional = 1},
        {"prefix_to_remove", .offset = offsetof(struct graft_weight_transform, prefix_to_remove), .is_optional = 1},
        {"model_prefix", .offset = offsetof(struct graft_weight_transform, model_prefix), .is_optional = 1},
        {"scope_prefix", .offset = offsetof(struct graft_weight_transform, scope_prefix), .is_optional = 1},
        {"base_model_prefix", .offset = offsetof(struct graft_weight_transform, base_model_prefix), .is_optional = 1},
        {"offset", GRAFT_MEMBER_INT, offsetof(struct graft_weight_transform, offset), 1, .least = -INT32_MAX,
         .most = INT32_MAX},
        {0},
    };
    struct graft_weight_transform transform = {.struct_size = sizeof transform};
    int kind = 0;
    int status = graft_field_read_some(object, kind_member, &kind, error);
    transform.kind = kind + 1;
    if (status == GRAFT_OK) {
        status = graft_field_object(object, transform_fields(transform.kind), error);
    }
    if (status == GRAFT_OK && transform.kind != GRAFT_TRANSFORM_PREFIX_CHANGE) {
        status = read_strings(object, "source_patterns", read, &transform.source_patterns, &transform.n_sources, error);
    }
    if (status == GRAFT_OK && transform.kind != GRAFT_TRANSFORM_PREFIX_CHANGE) {
        status = read_strings(object, "target_patterns", read, &transform.target_patterns, &transform.n_targets, error);
    }
    if (status == GRAFT_OK) {
        status = graft_field_read_some(object, members, &transform, error);
    }
    if (status == GRAFT_OK && transform.kind == GRAFT_TRANSFORM_CONVERTER) {
        status = graft_operations_read(object, read, &transform.operations, &transform.n_operations, error);
        transform.operation_stride = sizeof *transform.operations;
    }
    if (status == GRAFT_OK && graft_grow(&read->items, &read->capacity, read->n, sizeof transform) != 0) {
        status = graft_fail_memory(error, object->file);
    }
    if (status == GRAFT_OK) {
        read->items[read->n++] = transform;
    }
    return status;
}

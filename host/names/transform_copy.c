/* SPDX-License-Identifier: Apache-2.0 */
#include "names/transform_copy.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "value/operations.h"

enum { MAX_PATTERNS = 4096, MAX_OPERATIONS = 64 };

/* A memory block that is filled front to back. With `base` NULL its size is measured. */
struct block {
    char *base;
    size_t used;
};

static void *take(struct block *block, size_t bytes) {
    void *at = block->base != NULL ? block->base + block->used : NULL;
    block->used += (bytes + 7) / 8 * 8;
    return at;
}

static const char *take_string(struct block *block, const char *text) {
    size_t bytes = text != NULL ? strlen(text) + 1 : 0;
    char *copy = text != NULL ? take(block, bytes) : NULL;
    if (copy != NULL) {
        memcpy(copy, text, bytes);
    }
    return copy;
}

/* Copies `n` strings and a terminating NULL. */
static const char *const *take_strings(struct block *block, const char *const *strings, size_t n) {
    const char **copy = take(block, (n + 1) * sizeof *copy);
    for (size_t i = 0; i < n; i++) {
        const char *string = take_string(block, strings[i]);
        if (copy != NULL) {
            copy[i] = string;
        }
    }
    return copy;
}

static size_t count_strings(const char *const *strings) {
    size_t n = 0;
    while (strings[n] != NULL) {
        n++;
    }
    return n;
}

const struct graft_operation *graft_transform_operation(const struct graft_weight_transform *transform, int32_t i) {
    const char *at = (const char *)transform->operations + (size_t)i * transform->operation_stride;
    return (const struct graft_operation *)(const void *)at;
}

static const struct graft_operation *take_operations(struct block *block,
                                                     const struct graft_weight_transform *transform) {
    size_t n = (size_t)transform->n_operations;
    struct graft_operation *copies = n > 0 ? take(block, n * sizeof *copies) : NULL;
    for (size_t i = 0; i < n; i++) {
        struct graft_operation copy = {0};
        const struct graft_operation *from = graft_transform_operation(transform, (int32_t)i);
        graft_struct_copy(&copy, sizeof copy, from);
        copy.struct_size = sizeof copy;
        copy.num_shards_attribute = take_string(block, copy.num_shards_attribute);
        copy.subconfig_key = take_string(block, copy.subconfig_key);
        if (copy.permute_layer_names != NULL) {
            copy.permute_layer_names =
                take_strings(block, copy.permute_layer_names, count_strings(copy.permute_layer_names));
        }
        if (copies != NULL) {
            copies[i] = copy;
        }
    }
    return copies;
}

static void fill(struct block *block, const struct graft_weight_transform *transforms, size_t n) {
    struct graft_weight_transform *copies = take(block, n * sizeof *copies);
    for (size_t i = 0; i < n; i++) {
        struct graft_weight_transform copy = {0};
        const struct graft_weight_transform *from = graft_struct_at(transforms, i);
        graft_struct_copy(&copy, sizeof copy, from);
        copy.struct_size = sizeof copy;
        copy.source_patterns = take_strings(block, copy.source_patterns, (size_t)copy.n_sources);
        copy.target_patterns = take_strings(block, copy.target_patterns, (size_t)copy.n_targets);
        copy.operations = take_operations(block, from);
        copy.operation_stride = sizeof(struct graft_operation);
        copy.prefix_to_add = take_string(block, copy.prefix_to_add);
        copy.prefix_to_remove = take_string(block, copy.prefix_to_remove);
        copy.model_prefix = take_string(block, copy.model_prefix);
        copy.scope_prefix = take_string(block, copy.scope_prefix);
        copy.base_model_prefix = take_string(block, copy.base_model_prefix);
        copy.scope_class = take_string(block, copy.scope_class);
        if (copies != NULL) {
            copies[i] = copy;
        }
    }
}

struct graft_weight_transform *graft_transforms_copy(const struct graft_weight_transform *transforms, size_t n) {
    struct block block = {0};
    fill(&block, transforms, n);
    block.base = graft_alloc(block.used + 1, 1);
    block.used = 0;
    if (block.base != NULL) {
        fill(&block, transforms, n);
    }
    return (struct graft_weight_transform *)(void *)block.base;
}

static int check_strings(const char *const *strings, int32_t n, const char *what, const char *place,
                         struct graft_error *error) {
    int sound = n >= 0 && n <= MAX_PATTERNS && (n == 0 || strings != NULL);
    for (int32_t i = 0; sound && i < n; i++) {
        sound = strings[i] != NULL;
    }
    return sound ? GRAFT_OK
                 : graft_error_set(error, GRAFT_ERROR_USAGE, place, "%s: expected 0 to %d strings", what,
                                   (int)MAX_PATTERNS);
}

static int is_known(const struct graft_operation *operation) {
    return operation->kind == GRAFT_OP_CUSTOM ? operation->custom != NULL
                                              : graft_operation_kind(graft_operation_name(operation->kind)) != 0;
}

static int check_operations(const struct graft_weight_transform *transform, const char *place,
                            struct graft_error *error) {
    int32_t n = transform->n_operations;
    if (n < 0 || n > MAX_OPERATIONS || (n > 0 && transform->operations == NULL)) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, place, "operations: expected 0 to %d", (int)MAX_OPERATIONS);
    }
    for (int32_t i = 0; i < n; i++) {
        const struct graft_operation *operation = graft_transform_operation(transform, i);
        if (transform->operation_stride < GRAFT_OPERATION_SIZE_1_0 || transform->operation_stride % 8 != 0 ||
            operation->struct_size < GRAFT_OPERATION_SIZE_1_0 || operation->struct_size > transform->operation_stride ||
            !is_known(operation)) {
            return graft_error_set(error, GRAFT_ERROR_USAGE, place, "operations[%d]: unknown size or kind", (int)i);
        }
    }
    return GRAFT_OK;
}

int graft_transform_check(const struct graft_weight_transform *transform, const char *place,
                          struct graft_error *error) {
    if (transform->struct_size < GRAFT_WEIGHT_TRANSFORM_SIZE_1_0 || transform->kind < GRAFT_TRANSFORM_RENAME ||
        transform->kind > GRAFT_TRANSFORM_CONVERTER) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, place, "a transform of unknown size or kind");
    }
    int status = check_strings(transform->source_patterns, transform->n_sources, "source_patterns", place, error);
    if (status == GRAFT_OK) {
        status = check_strings(transform->target_patterns, transform->n_targets, "target_patterns", place, error);
    }
    if (status == GRAFT_OK && transform->kind != GRAFT_TRANSFORM_PREFIX_CHANGE &&
        (transform->n_sources == 0 || transform->n_targets == 0)) {
        status =
            graft_error_set(error, GRAFT_ERROR_USAGE, place, "expected at least one source and one target pattern");
    }
    return status == GRAFT_OK ? check_operations(transform, place, error) : status;
}

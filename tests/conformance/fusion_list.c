/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of transforms, as fusion_mapping.json writes them. */
#include <string.h>

#include "base/alloc.h"
#include "fusion_mapping.h"
#include "key_renaming.h"
#include "value/operations.h"

static void set(graft_json *object, const char *key, graft_json *value) {
    (void)graft_json_set_take(object, key, value);
}

static graft_json *strings_json(const char *const *strings, int32_t n) {
    graft_json *array = graft_json_new_array();
    for (int32_t i = 0; i < n; i++) {
        (void)graft_json_append_take(array, graft_json_new_string(strings[i]));
    }
    return array;
}

static graft_json *operation_json(const struct graft_operation *operation) {
    graft_json *object = graft_json_new_object();
    set(object, "op", graft_json_new_string(graft_operation_name(operation->kind)));
    if (operation->kind == GRAFT_OP_CONV3D_TO_LINEAR || operation->kind == GRAFT_OP_LINEAR_TO_CONV3D) {
        graft_json *kernel = graft_json_new_array();
        for (int32_t i = 0; i < 3; i++) {
            (void)graft_json_append_take(kernel, graft_json_new_int(operation->kernel_size[i]));
        }
        set(object, "in_channels", graft_json_new_int(operation->in_channels));
        set(object, "kernel_size", kernel);
    } else {
        set(object, "dim0", graft_json_new_int(operation->dim));
        set(object, "dim1", graft_json_new_int(operation->dim1));
        set(object, "check_dims", graft_json_new_bool(operation->check_dims));
    }
    return object;
}

static void set_operations(graft_json *object, const struct graft_weight_transform *transform) {
    graft_json *array = graft_json_new_array();
    for (int32_t i = 0; i < transform->n_operations; i++) {
        const char *at = (const char *)transform->operations + (size_t)i * transform->operation_stride;
        (void)graft_json_append_take(array, operation_json((const void *)at));
    }
    if (transform->kind == GRAFT_TRANSFORM_CONVERTER) {
        set(object, "operations", array);
    } else {
        graft_json_free(array);
    }
}

static graft_json *transform_json(const struct graft_weight_transform *transform) {
    graft_json *object = graft_json_new_object();
    set(object, "kind", graft_json_new_string(transform->kind == GRAFT_TRANSFORM_CONVERTER ? "converter" : "rename"));
    set(object, "source_patterns", strings_json(transform->source_patterns, transform->n_sources));
    set(object, "target_patterns", strings_json(transform->target_patterns, transform->n_targets));
    set_operations(object, transform);
    return object;
}

/* Compares the list with the expected one, and frees it. */
static enum verdict compare(graft_json *ours_take, const graft_json *expected, struct graft_text *why) {
    char *text = graft_json_dump(ours_take, 0);
    enum verdict verdict = same_json(ours_take, expected) ? PASSED : fail(why, "got %s", text != NULL ? text : "?");
    graft_free(text);
    graft_json_free(ours_take);
    return verdict;
}

enum verdict compare_transforms(const struct graft_weight_transform *transforms, size_t n, const graft_json *expected,
                                struct graft_text *why) {
    graft_json *array = graft_json_new_array();
    for (size_t i = 0; i < n; i++) {
        (void)graft_json_append_take(array, transform_json(&transforms[i]));
    }
    return compare(array, expected, why);
}

/* Compiles patterns, for both directions. */
static graft_json *reverse_json(const struct graft_weight_transform *transform) {
    struct key_transform *forward = NULL;
    struct key_transform *back = NULL;
    graft_json *object = graft_json_new_object();
    if (graft_key_transform_create(transform, "case", &forward, NULL, NULL) == GRAFT_OK &&
        case_transform_reverse(forward, "case", &back, NULL, NULL) == GRAFT_OK) {
        const struct key_patterns *patterns = &back->patterns;
        set(object, "source_patterns", strings_json((const char *const *)patterns->sources, patterns->n_sources));
        set(object, "target_patterns", strings_json((const char *const *)patterns->targets, patterns->n_targets));
        set(object, "regex", graft_json_new_string(back->joined));
        set_operations(object, back->given);
    }
    graft_key_transform_free(back);
    graft_key_transform_free(forward);
    return object;
}

enum verdict compare_reverse(const struct graft_weight_transform *transforms, size_t n, const graft_json *expected,
                             struct graft_text *why) {
    graft_json *array = graft_json_new_array();
    for (size_t i = 0; i < n; i++) {
        (void)graft_json_append_take(array, reverse_json(&transforms[i]));
    }
    return compare(array, expected, why);
}

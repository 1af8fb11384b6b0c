/* SPDX-License-Identifier: Apache-2.0 */
#include "names/key_transform.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "names/transform_copy.h"
#include "value/operations.h"

/* The patterns of a change of prefix. They keep the prefix from being added twice. */
static int init_prefix_change(struct key_transform *transform, const char *place, enum key_fault *fault,
                              struct graft_error *error) {
    const struct graft_weight_transform *given = transform->given;
    const char *model = given->model_prefix != NULL ? given->model_prefix : "";
    const char *dot = model[0] != '\0' ? "\\." : "";
    const char *added = given->prefix_to_add, *removed = given->prefix_to_remove;
    if ((added == NULL) == (removed == NULL)) {
        return graft_key_failed(fault, KEY_FAULT_PREFIX_ARGUMENTS, error, GRAFT_ERROR_USAGE, place,
                                "expected exactly one of prefix_to_add and prefix_to_remove");
    }
    char *source = added != NULL ? graft_format("^%s%s(?:(?!%s\\.))(.+)", model, dot, added)
                                 : graft_format("^%s%s%s\\.(.+)", model, dot, removed);
    char *target =
        added != NULL ? graft_format("%s%s%s\\.\\1", model, dot, added) : graft_format("%s%s\\1", model, dot);
    const char *const sources[] = {source}, *const targets[] = {target};
    int status = source != NULL && target != NULL
                     ? graft_key_patterns_init(&transform->patterns, sources, 1, targets, 1, place, fault, error)
                     : graft_fail_memory(error, place);
    graft_free(source);
    graft_free(target);
    return status;
}

static int init_patterns(struct key_transform *transform, const char *place, enum key_fault *fault,
                         struct graft_error *error) {
    const struct graft_weight_transform *given = transform->given;
    if (given->kind == GRAFT_TRANSFORM_PREFIX_CHANGE) {
        return init_prefix_change(transform, place, fault, error);
    }
    if (given->kind == GRAFT_TRANSFORM_GROUP_RENAME && given->n_sources != given->n_targets) {
        return graft_key_failed(fault, KEY_FAULT_GROUP_LENGTH, error, GRAFT_ERROR_USAGE, place,
                                "a group of renamings has %d source patterns and %d target patterns, expected pairs",
                                (int)given->n_sources, (int)given->n_targets);
    }
    int status = graft_key_patterns_init(&transform->patterns, given->source_patterns, given->n_sources,
                                         given->target_patterns, given->n_targets, place, fault, error);
    if (status == GRAFT_OK && given->kind == GRAFT_TRANSFORM_CONVERTER) {
        enum graft_operation_fault why = GRAFT_FAULT_NONE;
        struct graft_error cause = graft_error_none();
        const struct graft_operations operations = {.items = given->operations,
                                                    .count = given->n_operations,
                                                    .stride = given->operation_stride,
                                                    .place = place,
                                                    .n_targets = given->n_targets};
        if (graft_operations_check(&operations, given->n_sources, &why, &cause) != GRAFT_OK) {
            status = graft_key_failed(
                fault, why == GRAFT_FAULT_NO_OPERATIONS ? KEY_FAULT_NO_OPERATIONS : KEY_FAULT_MANY_TO_MANY, error,
                GRAFT_ERROR_USAGE, place, "%s", cause.message);
        }
    }
    return status;
}

/* Refuses a \1 that is left in a source, where it would refer to the source's own group. */
static int check_references(const struct key_transform *transform, const char *place, enum key_fault *fault,
                            struct graft_error *error) {
    for (int32_t i = 0; i < transform->patterns.n_sources; i++) {
        const char *pattern = transform->patterns.sources[i];
        for (const char *at = pattern; *at != '\0'; at++) {
            if (at[0] == '\\' && at[1] >= '1' && at[1] <= '9') {
                return graft_key_failed(fault, KEY_FAULT_INVALID_REGEX, error, GRAFT_ERROR_USAGE, place,
                                        "source_patterns: \"%.200s\" refers to a group that is still open", pattern);
            }
            at += at[0] == '\\' && at[1] != '\0';
        }
    }
    return GRAFT_OK;
}

static int compile(struct key_transform *transform, const char *place, enum key_fault *fault,
                   struct graft_error *error) {
    struct graft_text joined = {0};
    int status = check_references(transform, place, fault, error);
    if (status == GRAFT_OK) {
        status = graft_key_patterns_join(&transform->patterns, &joined, error);
    }
    transform->joined = joined.bytes;
    if (status == GRAFT_OK) {
        status = graft_regex_compile(joined.bytes, joined.length, place, GRAFT_ERROR_USAGE, &transform->regex, error);
        *fault = status == GRAFT_ERROR_USAGE ? KEY_FAULT_INVALID_REGEX : *fault;
    }
    if (status != GRAFT_OK) {
        return status;
    }
    transform->groups = graft_alloc((size_t)transform->patterns.n_sources, sizeof *transform->groups);
    if (transform->groups == NULL) {
        return graft_fail_memory(error, place);
    }
    for (int32_t i = 0; i < transform->patterns.n_sources; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "g%d", (int)i);
        transform->groups[i] = graft_regex_group(transform->regex, name);
    }
    return GRAFT_OK;
}

/* Finds each source's literal. Most names match no source, and searching literals shows that faster than a regular
 * expression. */
static int find_literals(struct key_transform *transform, const char *place, struct graft_error *error) {
    transform->literals = graft_alloc((size_t)transform->patterns.n_sources, sizeof(char *));
    int failed = transform->literals == NULL;
    for (int32_t i = 0; i < transform->patterns.n_sources && !failed; i++) {
        size_t length;
        const char *literal = graft_key_pattern_literal(transform->patterns.sources[i], &length);
        transform->literals[i] = literal != NULL ? graft_strndup(literal, length) : NULL;
        failed = literal != NULL && transform->literals[i] == NULL;
    }
    return failed ? graft_fail_memory(error, place) : GRAFT_OK;
}

/* Compiles the patterns that extract a tensor's index. */
static int compile_stars(struct key_transform *transform, const char *place, struct graft_error *error) {
    int status = GRAFT_OK;
    if (transform->given->kind != GRAFT_TRANSFORM_CONVERTER) {
        return GRAFT_OK;
    }
    transform->stars = graft_alloc((size_t)transform->patterns.n_sources, sizeof(struct graft_regex *));
    if (transform->stars == NULL) {
        return graft_fail_memory(error, place);
    }
    for (int32_t i = 0; i < transform->patterns.n_sources && status == GRAFT_OK; i++) {
        struct graft_text text = {0};
        if (strstr(transform->patterns.sources[i], "*.") == NULL) {
            continue;
        }
        graft_key_pattern_star(transform->patterns.sources[i], &text);
        status = text.failed ? graft_fail_memory(error, place)
                             : graft_regex_compile(text.bytes, text.length, place, GRAFT_ERROR_USAGE,
                                                   &transform->stars[i], error);
        graft_text_free(&text);
    }
    return status;
}

int graft_key_transform_create(const struct graft_weight_transform *description, const char *place,
                               struct key_transform **transform, enum key_fault *fault, struct graft_error *error) {
    enum key_fault ignored = KEY_FAULT_NONE;
    int status = graft_transform_check(description, place, error);
    if (status != GRAFT_OK) {
        return status;
    }
    struct key_transform *made = graft_alloc(1, sizeof *made);
    if (made == NULL || (made->given = graft_transforms_copy(description, 1)) == NULL) {
        graft_key_transform_free(made);
        return graft_fail_memory(error, place);
    }
    fault = fault != NULL ? fault : &ignored;
    status = init_patterns(made, place, fault, error);
    if (status == GRAFT_OK) {
        status = compile(made, place, fault, error);
    }
    if (status == GRAFT_OK) {
        status = compile_stars(made, place, error);
    }
    if (status == GRAFT_OK) {
        status = find_literals(made, place, error);
    }
    if (status != GRAFT_OK) {
        graft_key_transform_free(made);
        return status;
    }
    *transform = made;
    return GRAFT_OK;
}

void graft_key_transform_free(struct key_transform *transform) {
    if (transform != NULL) {
        for (int32_t i = 0; transform->stars != NULL && i < transform->patterns.n_sources; i++) {
            graft_regex_free(transform->stars[i]);
        }
        for (int32_t i = 0; transform->literals != NULL && i < transform->patterns.n_sources; i++) {
            graft_free(transform->literals[i]);
        }
        graft_free(transform->literals);
        graft_free(transform->stars);
        graft_key_patterns_finish(&transform->patterns);
        graft_regex_free(transform->regex);
        graft_free(transform->joined);
        graft_free(transform->groups);
        graft_free(transform->given);
        graft_free(transform);
    }
}

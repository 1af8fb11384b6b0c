/* SPDX-License-Identifier: Apache-2.0 */
#include "names/key_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"

enum { MAX_PLACE = 512 };

int graft_key_list_init(struct key_list *list, const struct graft_weight_transform *transforms, size_t n,
                        const char *place, enum key_fault *fault, struct graft_error *error) {
    *list = (struct key_list){.items = graft_alloc(n, sizeof(struct key_transform *))};
    int status = list->items != NULL ? GRAFT_OK : graft_fail_memory(error, place);
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        char at[MAX_PLACE];
        (void)snprintf(at, sizeof at, "%s[%zu]", place, i);
        status = graft_key_transform_create(graft_struct_at(transforms, i), at, &list->items[i], fault, error);
        list->n += status == GRAFT_OK;
    }
    if (status != GRAFT_OK) {
        graft_key_list_finish(list);
    }
    return status;
}

void graft_key_list_finish(struct key_list *list) {
    for (size_t i = 0; i < list->n; i++) {
        graft_key_transform_free(list->items[i]);
    }
    graft_free(list->items);
    *list = (struct key_list){0};
}

static int is_converter(const struct key_transform *transform) {
    return transform->given->kind == GRAFT_TRANSFORM_CONVERTER;
}

static int apply(const struct key_list *list, struct key_state *states, size_t i, struct key_result *result,
                 int32_t *source, int *matched, enum key_fault *fault, struct graft_error *error) {
    char *renamed = NULL;
    int status = graft_key_transform_apply(list->items[i], &states[i], result->name, &renamed, source, fault, error);
    *matched = renamed != NULL;
    if (renamed != NULL && is_converter(list->items[i])) {
        result->before = result->name;
        result->name = renamed;
    } else if (renamed != NULL) {
        graft_free(result->name);
        result->name = renamed;
    }
    return status;
}

void graft_key_result_finish(struct key_result *result) {
    graft_free(result->name);
    graft_free(result->before);
    *result = (struct key_result){.renaming = -1, .converter = -1};
}

static int rename_all(const struct key_list *list, struct key_state *states, struct key_result *result,
                      enum key_fault *fault, struct graft_error *error) {
    int status = GRAFT_OK;
    for (size_t i = 0; i < list->n && status == GRAFT_OK; i++) {
        int32_t source;
        int matched = 0;
        if (!is_converter(list->items[i])) {
            status = apply(list, states, i, result, &source, &matched, fault, error);
            result->renaming = matched && result->renaming < 0 ? (int64_t)i : result->renaming;
        }
    }
    return status;
}

static int convert_once(const struct key_list *list, struct key_state *states, struct key_result *result,
                        enum key_fault *fault, struct graft_error *error) {
    int status = GRAFT_OK;
    for (size_t i = 0; i < list->n && status == GRAFT_OK && result->converter < 0; i++) {
        int matched = 0;
        if (is_converter(list->items[i])) {
            status = apply(list, states, i, result, &result->source, &matched, fault, error);
        }
        result->converter = matched ? (int64_t)i : -1;
    }
    return status;
}

int graft_key_list_rename(const struct key_list *list, struct key_state *states, const char *name,
                          struct key_result *result, enum key_fault *fault, struct graft_error *error) {
    *result = (struct key_result){.name = graft_strdup(name), .renaming = -1, .converter = -1};
    int status = result->name != NULL ? GRAFT_OK : graft_fail_memory(error, name);
    if (status == GRAFT_OK) {
        status = rename_all(list, states, result, fault, error);
    }
    if (status == GRAFT_OK) {
        status = convert_once(list, states, result, fault, error);
    }
    if (status != GRAFT_OK) {
        graft_key_result_finish(result);
    }
    return status;
}

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
        status = graft_key_transform_create(&transforms[i], at, &list->items[i], fault, error);
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

int graft_key_list_reverse(const struct key_list *list, int prefix_changes, struct key_list *reverse,
                           enum key_fault *fault, struct graft_error *error) {
    *reverse = (struct key_list){.items = graft_alloc(list->n, sizeof(struct key_transform *))};
    int status = reverse->items != NULL ? GRAFT_OK : graft_fail_memory(error, "reverse");
    for (size_t i = list->n; i > 0 && status == GRAFT_OK; i--) {
        const struct key_transform *transform = list->items[i - 1];
        if (prefix_changes || transform->given->kind != GRAFT_TRANSFORM_PREFIX_CHANGE) {
            status = graft_key_transform_reverse(transform, "reverse", &reverse->items[reverse->n], fault, error);
            reverse->n += status == GRAFT_OK;
        }
    }
    if (status != GRAFT_OK) {
        graft_key_list_finish(reverse);
    }
    return status;
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

int graft_key_list_rename(const struct key_list *list, struct key_state *states, int backwards, const char *name,
                          struct key_result *result, enum key_fault *fault, struct graft_error *error) {
    *result = (struct key_result){.name = graft_strdup(name), .renaming = -1, .converter = -1};
    int status = result->name != NULL ? GRAFT_OK : graft_fail_memory(error, name);
    for (int step = 0; step < 2 && status == GRAFT_OK; step++) {
        status = (step == 0) == (backwards != 0) ? convert_once(list, states, result, fault, error)
                                                 : rename_all(list, states, result, fault, error);
    }
    if (status != GRAFT_OK) {
        graft_key_result_finish(result);
    }
    return status;
}

int graft_key_adjust_prefix(const char *prefix, const char *name, key_known_function known, void *data,
                            char **adjusted) {
    size_t length = strlen(prefix);
    *adjusted = NULL;
    if (length == 0 || known(data, name)) {
        return 0;
    }
    if (strncmp(name, prefix, length) == 0 && name[length] == '.' && known(data, name + length + 1)) {
        *adjusted = graft_strdup(name + length + 1);
        return *adjusted != NULL ? 0 : -1;
    }
    char *longer = graft_format("%s.%s", prefix, name);
    if (longer != NULL && known(data, longer)) {
        *adjusted = longer;
        return 0;
    }
    graft_free(longer);
    return longer != NULL ? 0 : -1;
}

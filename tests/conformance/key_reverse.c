/* SPDX-License-Identifier: Apache-2.0 */
/* Reverses as transformers does: a transform, a list, and the renaming of names. The host does not need this, since it
 * saves by a journal of what it loaded. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "key_renaming.h"
#include "names/transform_copy.h"
#include "operation_reverse.h"

struct pair {
    const char *source;
    const char *target;
};

static int compare_pairs(const void *left, const void *right) {
    const struct pair *a = left, *b = right;
    int order = strcmp(a->source, b->source);
    return order != 0 ? order : strcmp(a->target, b->target);
}

/* Pairs are sorted again: the group that matched must come first in a checkpoint's order, too. */
static int reverse_pairs(struct graft_weight_transform *reverse, const char **room) {
    size_t n = (size_t)reverse->n_sources;
    struct pair *pairs = graft_alloc(n, sizeof *pairs);
    if (pairs == NULL) {
        return -1;
    }
    for (size_t i = 0; i < n; i++) {
        pairs[i] = (struct pair){reverse->source_patterns[i], reverse->target_patterns[i]};
    }
    qsort(pairs, n, sizeof *pairs, compare_pairs);
    for (size_t i = 0; i < n; i++) {
        room[i] = pairs[i].source;
        room[n + i] = pairs[i].target;
    }
    reverse->source_patterns = room;
    reverse->target_patterns = room + n;
    graft_free(pairs);
    return 0;
}

static void reverse_operations(struct graft_weight_transform *reverse, struct graft_operation *room) {
    int32_t n = reverse->n_operations;
    for (int32_t i = 0; i < n; i++) {
        room[i] = operation_reverse(graft_transform_operation(reverse, n - 1 - i));
    }
    reverse->operations = room;
    reverse->operation_stride = sizeof *room;
}

int case_transform_reverse(const struct key_transform *transform, const char *place, struct key_transform **reverse,
                           enum key_fault *fault, struct graft_error *error) {
    const struct graft_weight_transform *given = transform->given;
    struct graft_weight_transform back = *given;
    const char **names = graft_alloc(2 * (size_t)given->n_targets + 1, sizeof *names);
    struct graft_operation *operations = graft_alloc((size_t)given->n_operations, sizeof *operations);
    int status = names != NULL && operations != NULL ? GRAFT_OK : graft_fail_memory(error, place);
    back.source_patterns = given->target_patterns;
    back.target_patterns = given->source_patterns;
    back.n_sources = given->n_targets;
    back.n_targets = given->n_sources;
    back.offset = -given->offset;
    back.prefix_to_add = given->prefix_to_remove;
    back.prefix_to_remove = given->prefix_to_add;
    if (status == GRAFT_OK && given->kind == GRAFT_TRANSFORM_GROUP_RENAME && reverse_pairs(&back, names) != 0) {
        status = graft_fail_memory(error, place);
    }
    if (status == GRAFT_OK) {
        reverse_operations(&back, operations);
        status = graft_key_transform_create(&back, place, reverse, fault, error);
    }
    graft_free(names);
    graft_free(operations);
    return status;
}

int case_list_reverse(const struct key_list *list, int prefix_changes, struct key_list *reverse, enum key_fault *fault,
                      struct graft_error *error) {
    *reverse = (struct key_list){.items = graft_alloc(list->n, sizeof(struct key_transform *))};
    int status = reverse->items != NULL ? GRAFT_OK : graft_fail_memory(error, "reverse");
    for (size_t i = list->n; i > 0 && status == GRAFT_OK; i--) {
        const struct key_transform *transform = list->items[i - 1];
        if (prefix_changes || transform->given->kind != GRAFT_TRANSFORM_PREFIX_CHANGE) {
            status = case_transform_reverse(transform, "reverse", &reverse->items[reverse->n], fault, error);
            reverse->n += status == GRAFT_OK;
        }
    }
    if (status != GRAFT_OK) {
        graft_key_list_finish(reverse);
    }
    return status;
}

/* Applies either the converters or the other transforms; of the converters only the first that matches. */
static int apply_kind(const struct key_list *list, struct key_state *states, int converters, struct key_result *result,
                      struct graft_error *error) {
    int status = GRAFT_OK;
    for (size_t i = 0; i < list->n && status == GRAFT_OK && (!converters || result->converter < 0); i++) {
        char *renamed = NULL;
        int32_t source = 0;
        if ((list->items[i]->given->kind == GRAFT_TRANSFORM_CONVERTER) != converters) {
            continue;
        }
        status = graft_key_transform_apply(list->items[i], &states[i], result->name, &renamed, &source, NULL, error);
        if (renamed != NULL) {
            graft_free(result->name);
            result->name = renamed;
            result->converter = converters ? (int64_t)i : result->converter;
            result->source = converters ? source : result->source;
        }
    }
    return status;
}

int case_rename_back(const struct key_list *list, struct key_state *states, const char *name, struct key_result *result,
                     struct graft_error *error) {
    *result = (struct key_result){.name = graft_strdup(name), .renaming = -1, .converter = -1};
    int status = result->name != NULL ? GRAFT_OK : graft_fail_memory(error, name);
    for (int converters = 1; converters >= 0 && status == GRAFT_OK; converters--) {
        status = apply_kind(list, states, converters, result, error);
    }
    return status;
}

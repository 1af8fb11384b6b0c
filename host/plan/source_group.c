/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/source_group.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "value/operations.h"

static int compare(const struct source_group *group, const struct key_transform *converter, const char *name) {
    return group->converter != converter ? (group->converter < converter ? -1 : 1) : strcmp(group->name, name);
}

/* Where in `order` a group is, or belongs. */
static size_t place_of(const struct source_groups *groups, const struct key_transform *converter, const char *name) {
    size_t low = 0, high = groups->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare(&groups->items[groups->order[middle]], converter, name) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void group_finish(struct source_group *group) {
    for (int32_t i = 0; group->taken != NULL && i < group->converter->patterns.n_sources; i++) {
        graft_free(group->taken[i].items);
    }
    graft_free(group->taken);
    graft_free(group->before);
    graft_free(group->name);
}

/* A new group at place `at` of the order. */
static struct source_group *insert(struct source_groups *groups, size_t at, const struct key_transform *converter,
                                   const struct key_result *result) {
    struct source_group group = {converter, graft_strdup(result->name), graft_strdup(result->before),
                                 graft_alloc((size_t)converter->patterns.n_sources, sizeof *group.taken)};
    if (group.name == NULL || group.before == NULL || group.taken == NULL ||
        graft_grow(&groups->items, &groups->capacity, groups->n, sizeof group) != 0 ||
        graft_grow(&groups->order, &groups->order_capacity, groups->n, sizeof *groups->order) != 0) {
        group_finish(&group);
        return NULL;
    }
    memmove(&groups->order[at + 1], &groups->order[at], (groups->n - at) * sizeof *groups->order);
    groups->order[at] = groups->n;
    groups->items[groups->n] = group;
    return &groups->items[groups->n++];
}

int graft_source_groups_add(struct source_groups *groups, const struct key_list *list,
                            const struct graft_tensor_view *view, const struct key_result *result,
                            struct graft_error *error) {
    const struct key_transform *converter = list->items[result->converter];
    size_t at = place_of(groups, converter, result->name);
    int known = at < groups->n && compare(&groups->items[groups->order[at]], converter, result->name) == 0;
    struct source_group *group = known ? &groups->items[groups->order[at]] : insert(groups, at, converter, result);
    struct source_taken *taken = group != NULL ? &group->taken[result->source] : NULL;
    if (group == NULL || graft_grow(&taken->items, &taken->capacity, taken->n, sizeof *taken->items) != 0) {
        return graft_fail_memory(error, view->name);
    }
    int64_t index = graft_key_transform_index(converter, result->source, result->before);
    taken->items[taken->n] = (struct source_indexed){index >= 0 ? index : (int64_t)taken->n, view};
    taken->n++;
    return GRAFT_OK;
}

void graft_source_groups_finish(struct source_groups *groups) {
    for (size_t i = 0; i < groups->n; i++) {
        group_finish(&groups->items[i]);
    }
    graft_free(groups->items);
    graft_free(groups->order);
    *groups = (struct source_groups){0};
}

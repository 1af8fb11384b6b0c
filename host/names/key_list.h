/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transforms in order, and what they make of a name: all renamings one after the other, then the first converter that
 * matches. On the way back the converter comes first. Immutable once made, and shared between loads and threads.
 */
#ifndef GRAFT_NAMES_KEY_LIST_H
#define GRAFT_NAMES_KEY_LIST_H

#include "names/key_transform.h"

struct key_list {
    struct key_transform **items;
    size_t n;
};

/* [any] Compiles descriptions; errors name them "PLACE[i]". On failure the list is empty. */
int graft_key_list_init(struct key_list *list, const struct graft_weight_transform *transforms, size_t n,
                        const char *place, enum key_fault *fault, struct graft_error *error);
void graft_key_list_finish(struct key_list *list);

/* [any] The list that leads back, last transform first. Without `prefix_changes` those are left out: whether a
 * checkpoint has such a prefix, only a load of it can tell. */
int graft_key_list_reverse(const struct key_list *list, int prefix_changes, struct key_list *reverse,
                           enum key_fault *fault, struct graft_error *error);

/* A name after a list. */
struct key_result {
    char *name;
    char *before;      /* the name as that converter saw it; NULL: none */
    int64_t renaming;  /* the first transform that renamed it; -1: none */
    int64_t converter; /* the one that converts it; -1: none */
    int32_t source;    /* the number of its source pattern that matched */
};

void graft_key_result_finish(struct key_result *result);

/* [any] `states` has one element for each transform, and lasts for one pass over the names, which are given in the
 * order of key_order. `backwards`: the list is a reverse one. */
int graft_key_list_rename(const struct key_list *list, struct key_state *states, int backwards, const char *name,
                          struct key_result *result, enum key_fault *fault, struct graft_error *error);

/* [any] The order that names are gone through in: by what stands between their dots, numbers as numbers. As strcmp. */
int graft_key_order(const char *left, const char *right);

/* Whether a model has a name. */
typedef int (*key_known_function)(void *data, const char *name);

/* [any] A name with the base model's prefix added or taken away, where the model knows it so and not as it is. Returns
 * 0 with `*adjusted` (of the caller) NULL where nothing changes, -1 when memory ran out. */
int graft_key_adjust_prefix(const char *prefix, const char *name, key_known_function known, void *data,
                            char **adjusted);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transforms in order, and what they make of a name: all renamings one after another, then the first converter that
 * matches. Immutable once made, and shared between loads and threads.
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
 * order of key_order. */
int graft_key_list_rename(const struct key_list *list, struct key_state *states, const char *name,
                          struct key_result *result, enum key_fault *fault, struct graft_error *error);

/* [any] The order that names are gone through in: by what stands between their dots, numbers as numbers. As strcmp. */
int graft_key_order(const char *left, const char *right);

#endif

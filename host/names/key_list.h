/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An ordered list of transforms and its effect on a name: all renamings are applied one after another, then the first
 * converter that matches. Immutable once made; loads and threads share it.
 */
#ifndef GRAFT_NAMES_KEY_LIST_H
#define GRAFT_NAMES_KEY_LIST_H

#include "names/key_transform.h"

struct key_list {
    struct key_transform **items;
    size_t n;
};

/* [any] Compiles descriptions; errors call them "PLACE[i]". On failure the list is empty. */
int graft_key_list_init(struct key_list *list, const struct graft_weight_transform *transforms, size_t n,
                        const char *place, enum key_fault *fault, struct graft_error *error);
void graft_key_list_finish(struct key_list *list);

/* A name after a list was applied. */
struct key_result {
    char *name;
    char *before;      /* the name that the converter saw; NULL: no converter matched */
    int64_t renaming;  /* index of the first transform that renamed it; -1: none */
    int64_t converter; /* index of the transform that converts it; -1: none */
    int32_t source;    /* index of the converter's source pattern that matched */
};

void graft_key_result_finish(struct key_result *result);

/* [any] Applies the list to one name. `states` has one element for each transform and serves one pass over all names,
 * which must come in the order of graft_key_order. */
int graft_key_list_rename(const struct key_list *list, struct key_state *states, const char *name,
                          struct key_result *result, enum key_fault *fault, struct graft_error *error);

/* [any] The order of a pass over names: by the components between dots, with numbers compared as numbers. Returns like
 * strcmp. */
int graft_key_order(const char *left, const char *right);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/profile.h"

#include <string.h>

#include "base/alloc.h"
#include "hooks/bytes.h"

/* The first node with a row, starting at `key`. A module of the original model counts in the rows of all classes
 * stacked in its place, any other module in its own row. */
static const struct graft_node *with_row(const struct graft_tree_profile *profile, const struct graft_node *key) {
    int only_replaced = profile->counterpart != NULL || profile->which == GRAFT_PROFILE_REPLACED;
    while (key != NULL && (key->known == NULL || (only_replaced && key->original == NULL))) {
        key = profile->counterpart != NULL ? key->super : NULL;
    }
    return key;
}

/* The first node whose row counts the calls of `node`, or NULL; next_key returns the others. */
static const struct graft_node *first_key(const struct graft_tree_profile *profile, const struct graft_node *node) {
    const struct graft_tree *other = profile->counterpart;
    return with_row(profile, other != NULL ? graft_node_find(other->root, node->path) : node);
}

static const struct graft_node *next_key(const struct graft_tree_profile *profile, const struct graft_node *key) {
    return with_row(profile, profile->counterpart != NULL ? key->super : NULL);
}

static struct graft_profile_row *find_row(const struct graft_tree_profile *profile, const struct graft_node *key) {
    for (size_t i = 0; i < profile->count; i++) {
        struct graft_profile_row *row = &profile->rows[i];
        int same_class = strcmp(row->class_name, key->class_name) == 0;
        int same_original = (row->original_class == NULL) == (key->original == NULL) &&
                            (key->original == NULL || strcmp(row->original_class, key->original->cls->name) == 0);
        if (same_class && same_original) {
            return row;
        }
    }
    return NULL;
}

static int wants(void *data, const struct graft_node *node) {
    const struct graft_tree_profile *profile = data;
    return profile->which == GRAFT_PROFILE_ALL || first_key(profile, node) != NULL;
}

static int before(void *data, struct graft_hooked_call *hooked, struct graft_error *error) {
    struct graft_tree_profile *profile = data;
    int64_t *bytes = &profile->bytes[profile->phase];
    (void)error;
    hooked->mark = *bytes;
    *bytes += graft_hooked_call_bytes(hooked);
    return GRAFT_OK;
}

static int after(void *data, struct graft_hooked_call *hooked, struct graft_error *error) {
    struct graft_tree_profile *profile = data;
    const struct graft_node *key = first_key(profile, hooked->node);
    (void)error;
    for (; key != NULL; key = next_key(profile, key)) {
        struct graft_profile_sum *sum = &find_row(profile, key)->phases[profile->phase];
        sum->calls++;
        sum->seconds += hooked->seconds;
        sum->own_seconds += hooked->own_seconds;
        sum->bytes += profile->bytes[profile->phase] - hooked->mark;
    }
    return GRAFT_OK;
}

/* Counts a module in the row of `key`, which is added if there is none yet. */
static int add_to(struct graft_tree_profile *profile, const struct graft_node *key, struct graft_error *error) {
    struct graft_profile_row *row = find_row(profile, key);
    if (row == NULL) {
        if (graft_grow(&profile->rows, &profile->capacity, profile->count, sizeof *profile->rows) != 0) {
            return graft_fail_memory(error, key->path);
        }
        row = &profile->rows[profile->count++];
        *row = (struct graft_profile_row){
            .struct_size = sizeof *row,
            .class_name = key->class_name,
            .interface_id = key->known->cls->interface_id,
            .original_class = key->original != NULL ? key->original->cls->name : NULL,
            .plugin = key->known->origin.plugin,
        };
    }
    row->modules++;
    return GRAFT_OK;
}

static int add(void *data, struct graft_node *node, struct graft_error *error) {
    struct graft_tree_profile *profile = data;
    const struct graft_node *key = graft_can_hook(node) ? first_key(profile, node) : NULL;
    int status = GRAFT_OK;
    for (; key != NULL && status == GRAFT_OK; key = next_key(profile, key)) {
        status = add_to(profile, key, error);
    }
    return status;
}

int graft_tree_profile_begin(struct graft_tree_profile *profile, struct graft_tree *tree, struct graft_error *error) {
    const struct graft_forward_hooks hooks = {wants, before, after, profile};
    int status = profile->count == 0 ? graft_tree_walk(tree, add, profile, error) : GRAFT_OK;
    return status == GRAFT_OK ? graft_forward_hooks_register(tree, &hooks, &profile->handle, error) : status;
}

void graft_tree_profile_end(struct graft_tree_profile *profile) {
    graft_forward_hooks_remove(profile->handle);
    profile->handle = NULL;
}

void graft_tree_profile_finish(struct graft_tree_profile *profile) {
    graft_tree_profile_end(profile);
    graft_free(profile->rows);
}

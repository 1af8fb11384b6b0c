/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/profile.h"

#include <string.h>

#include "base/alloc.h"
#include "hooks/bytes.h"

/* The node that says in which row `node` counts; NULL if in none. */
static const struct graft_node *key_of(const struct graft_tree_profile *profile, const struct graft_node *node) {
    const struct graft_tree *other = profile->counterpart;
    const struct graft_node *key = other != NULL ? graft_node_find(other->root, node->path) : node;
    int only_replaced = other != NULL || profile->which == GRAFT_PROFILE_REPLACED;
    return key != NULL && (!only_replaced || key->original != NULL) ? key : NULL;
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
    return profile->which == GRAFT_PROFILE_ALL || key_of(profile, node) != NULL;
}

static int before(void *data, struct graft_observation *observation, struct graft_error *error) {
    struct graft_tree_profile *profile = data;
    int64_t *bytes = &profile->bytes[profile->phase];
    (void)error;
    observation->mark = *bytes;
    *bytes += graft_observation_bytes(observation);
    return GRAFT_OK;
}

static int after(void *data, struct graft_observation *observation, struct graft_error *error) {
    struct graft_tree_profile *profile = data;
    const struct graft_node *key = key_of(profile, observation->node);
    (void)error;
    if (key == NULL) {
        return GRAFT_OK;
    }
    struct graft_profile_sum *sum = &find_row(profile, key)->phases[profile->phase];
    sum->calls++;
    sum->seconds += observation->seconds;
    sum->own_seconds += observation->own_seconds;
    sum->bytes += profile->bytes[profile->phase] - observation->mark;
    return GRAFT_OK;
}

static int add(void *data, struct graft_node *node, struct graft_error *error) {
    struct graft_tree_profile *profile = data;
    const struct graft_node *key = node->known != NULL ? key_of(profile, node) : NULL;
    if (key == NULL) {
        return GRAFT_OK;
    }
    struct graft_profile_row *row = find_row(profile, key);
    if (row == NULL) {
        if (graft_grow(&profile->rows, &profile->capacity, profile->count, sizeof *profile->rows) != 0) {
            return graft_fail_memory(error, node->path);
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

int graft_tree_profile_begin(struct graft_tree_profile *profile, struct graft_tree *tree, struct graft_error *error) {
    const struct graft_observer observer = {wants, before, after, profile};
    int status = profile->count == 0 ? graft_tree_walk(tree, add, profile, error) : GRAFT_OK;
    return status == GRAFT_OK ? graft_observe(tree, &observer, &profile->observing, error) : status;
}

void graft_tree_profile_end(struct graft_tree_profile *profile) {
    graft_observe_end(profile->observing);
    profile->observing = NULL;
}

void graft_tree_profile_finish(struct graft_tree_profile *profile) {
    graft_tree_profile_end(profile);
    graft_free(profile->rows);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "registry/tally.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "registry/tally_rows.h"

struct graft_tally *graft_tally_create(struct graft_snapshot *snapshot, const char *model_type) {
    struct graft_tally *tally = graft_alloc(1, sizeof *tally);
    size_t n = 0;
    while (snapshot_patch(snapshot, n) != NULL) {
        n++;
    }
    if (tally == NULL || (tally->rows = graft_alloc(n, sizeof *tally->rows)) == NULL) {
        graft_free(tally);
        return NULL;
    }
    tally->snapshot = graft_snapshot_retain(snapshot);
    tally->model_type = model_type;
    tally->n = n;
    for (size_t i = 0; i < n; i++) {
        tally->rows[i].counts = patch_is_for_model(snapshot_patch(snapshot, i), model_type);
    }
    return tally;
}

void graft_tally_free(struct graft_tally *tally) {
    if (tally != NULL) {
        for (size_t i = 0; i < tally->n_notes; i++) {
            graft_free(tally->notes[i]);
        }
        graft_free(tally->notes);
        graft_free(tally->rows);
        graft_snapshot_release(tally->snapshot);
        graft_free(tally);
    }
}

static const char *group_of(const struct graft_tally *tally, size_t i) {
    return snapshot_patch(tally->snapshot, i)->declared->group;
}

int graft_tally_has_groups(const struct graft_tally *tally) {
    for (size_t i = 0; i < tally->n; i++) {
        if (tally->rows[i].counts && group_of(tally, i) != NULL) {
            return 1;
        }
    }
    return 0;
}

void graft_tally_start(struct graft_tally *tally, int trial) {
    tally->trial = trial;
    tally->modules = 0;
    for (size_t i = 0; i < tally->n; i++) {
        struct tally_row *row = &tally->rows[i];
        row->wanted = row->won = row->last_wanted = 0;
        row->lost_to = NULL;
    }
}

void tally_want(struct graft_tally *tally, size_t i) {
    tally->rows[i].wanted++;
    tally->rows[i].last_wanted = tally->modules;
}

void tally_give(struct graft_tally *tally, const struct patch *chosen) {
    for (size_t i = 0; i < tally->n; i++) {
        struct tally_row *row = &tally->rows[i];
        const struct patch *patch = snapshot_patch(tally->snapshot, i);
        if (patch == chosen) {
            row->won++;
        } else if (row->last_wanted == tally->modules && !patch_same_source(patch, chosen)) {
            row->lost_to = chosen->origin.plugin;
        }
    }
}

void tally_give_fusion(struct graft_tally *tally, const struct graft_origin *origin) {
    for (size_t i = 0; i < tally->n; i++) {
        struct tally_row *row = &tally->rows[i];
        const char *plugin = snapshot_patch(tally->snapshot, i)->origin.plugin;
        int same = plugin != NULL && origin->plugin != NULL && strcmp(plugin, origin->plugin) == 0;
        if (row->last_wanted == tally->modules && !same) {
            row->lost_to = origin->plugin != NULL ? origin->plugin : "a fusion";
        }
    }
}

/* Leaves out the group of patch `i`, for a reason that is consumed. */
static int leave_out(struct graft_tally *tally, size_t i, char *note_take, struct graft_error *error) {
    const struct patch *patch = snapshot_patch(tally->snapshot, i);
    if (note_take == NULL ||
        graft_grow(&tally->notes, &tally->note_capacity, tally->n_notes, sizeof *tally->notes) != 0) {
        graft_free(note_take);
        return graft_fail_memory(error, patch_source(patch));
    }
    tally->notes[tally->n_notes++] = note_take;
    for (size_t k = 0; k < tally->n; k++) {
        const struct patch *other = snapshot_patch(tally->snapshot, k);
        if (group_of(tally, k) != NULL && patch_same_source(patch, other) &&
            strcmp(group_of(tally, k), patch->declared->group) == 0) {
            tally->rows[k].left_out = 1;
        }
    }
    return GRAFT_OK;
}

static int is_member(const struct graft_tally *tally, size_t i) {
    return group_of(tally, i) != NULL && tally->rows[i].counts && !tally->rows[i].left_out;
}

/* Members that match nothing go first: their groups may be why others lost a module. Of those one at a time. */
int graft_tally_decide(struct graft_tally *tally, int *changed, struct graft_error *error) {
    int status = GRAFT_OK;
    *changed = 0;
    for (size_t i = 0; i < tally->n && status == GRAFT_OK; i++) {
        if (is_member(tally, i) && tally->rows[i].wanted == 0) {
            const struct patch *patch = snapshot_patch(tally->snapshot, i);
            status = leave_out(tally, i,
                               graft_format("%s: group %s is left out: \"%s\" matches nothing in this model",
                                            patch->origin.plugin, patch->declared->group, patch->declared->target),
                               error);
            *changed = 1;
        }
    }
    for (size_t i = 0; i < tally->n && status == GRAFT_OK && !*changed; i++) {
        if (is_member(tally, i) && tally->rows[i].lost_to != NULL) {
            const struct patch *patch = snapshot_patch(tally->snapshot, i);
            status = leave_out(tally, i,
                               graft_format("%s: group %s is left out: %s replaces what \"%s\" matches",
                                            patch->origin.plugin, patch->declared->group, tally->rows[i].lost_to,
                                            patch->declared->target),
                               error);
            *changed = 1;
        }
    }
    return status;
}

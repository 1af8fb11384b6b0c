/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a tally: shared by the units of this folder only. */
#ifndef GRAFT_REGISTRY_TALLY_ROWS_H
#define GRAFT_REGISTRY_TALLY_ROWS_H

#include "registry/snapshot.h"
#include "registry/tally.h"

/* One for each patch, in the order of snapshot_patch. */
struct tally_row {
    int left_out;        /* its group is */
    int counts;          /* the patch is for this model type */
    size_t wanted;       /* modules that its key hits */
    size_t won;          /* those of them that it replaces */
    size_t last_wanted;  /* number of the module wanted last */
    const char *lost_to; /* the plugin that got one of the others, if that was not its own source */
};

struct graft_tally {
    struct graft_snapshot *snapshot;
    const char *model_type;
    struct tally_row *rows;
    size_t n;
    int trial;
    size_t modules; /* that were asked for; the number of the present one */
    char **notes;   /* on groups left out */
    size_t n_notes;
    size_t note_capacity;
};

/* The patch wants the present module. */
void tally_want(struct graft_tally *tally, size_t i);

/* `chosen` gets the present module, or a fusion family of `origin` does. */
void tally_give(struct graft_tally *tally, const struct patch *chosen);
void tally_give_fusion(struct graft_tally *tally, const struct graft_origin *origin);

#endif

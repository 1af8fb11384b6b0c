/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a journal backwards. Shared by the units of this folder only; all functions are [load]. */
#ifndef GRAFT_SAVE_REVERSE_H
#define GRAFT_SAVE_REVERSE_H

#include "save/content.h"

/* A box of elements that a source holds: `at` is its place in original tensor number `tensor`, `begin` its place in the
 * source. */
struct claim {
    size_t tensor;
    const struct save_source *source;
    struct graft_box box;
};

struct claims {
    struct claim *items; /* sorted by tensor, then by source once claims_sort was called */
    size_t count;
    size_t capacity;
};

/* Adds a claim of `source` for every part of the entry. Returns 0, or -1 if memory ran out. */
int graft_claims_add(struct claims *claims, const struct journal_entry *entry, const struct save_source *source);
void graft_claims_sort(struct claims *claims);

/* Moves the claims of `more` to `claims`, and sorts. Returns 0, or -1 if memory ran out. */
int graft_claims_merge(struct claims *claims, struct claims *more);
void graft_claims_free(struct claims *claims);

/* Adds the parts of original tensor number `number` to `tensor`, from the claims of `first` and, for elements that
 * `first` does not claim, from those of `second`. Returns 0, -1 if memory ran out, or 1 if neither claims some
 * element. */
int graft_claims_fill(const struct claims *first, const struct claims *second, size_t number,
                      struct save_tensor *tensor);

/* Adds the tensors that no parameter uses to the runtime layout and to its journal. */
int graft_content_add_unused(const struct graft_plan *plan, const struct journal *stored, struct save_content *content,
                             struct journal *journal, struct graft_error *error);

#endif

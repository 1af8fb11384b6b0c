/* SPDX-License-Identifier: Apache-2.0 */
/* Running a journal backwards. Shared by the units of this folder only; all functions are [load]. */
#ifndef GRAFT_SAVE_REVERSE_H
#define GRAFT_SAVE_REVERSE_H

#include "save/content.h"

/* Elements of original tensor number `tensor` (`at`) that are elements of a source (`begin`). */
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

/* Claims what the entry describes for its source. Returns 0, or -1 if memory ran out. */
int graft_claims_add(struct claims *claims, const struct journal_entry *entry, const struct save_source *source);
void graft_claims_sort(struct claims *claims);

/* Moves the claims of `more` to `claims`, and sorts. Returns 0, or -1 if memory ran out. */
int graft_claims_merge(struct claims *claims, struct claims *more);
void graft_claims_free(struct claims *claims);

/* Adds the parts of original tensor number `number` to `tensor`: from `first` where it claims elements, else from
 * `second`. Returns 0, -1 if memory ran out, 1 when elements are claimed by neither. */
int graft_claims_fill(const struct claims *first, const struct claims *second, size_t number,
                      struct save_tensor *tensor);

/* Adds what no parameter uses to the runtime layout, and to the journal that goes with it. */
int graft_content_add_unused(const struct graft_plan *plan, const struct journal *stored, struct save_content *content,
                             struct journal *journal, struct graft_error *error);

#endif

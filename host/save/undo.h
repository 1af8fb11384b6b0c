/* SPDX-License-Identifier: Apache-2.0 */
/* Undoes custom operations: recomputes their inputs, for tensors of the original layout. Shared by the units of this
 * folder only; all functions are [load]. */
#ifndef GRAFT_SAVE_UNDO_H
#define GRAFT_SAVE_UNDO_H

#include "save/reverse.h"

/* Adds to `claims` the inputs of every use whose outputs are held by parameters (`claims`, not sorted yet) or by mapped
 * tensors (`mapped`, sorted; may be NULL). `journal` must outlive the content. Sorts `claims`. Returns 0, or -1 if
 * memory ran out. */
int graft_claims_undo(const struct journal *journal, const struct claims *mapped, struct save_content *content,
                      struct claims *claims);

/* Undoes the operations that the tensor's elements need, and frees results that it does not need. */
int graft_save_undo_for(const struct save_content *content, const struct save_tensor *tensor,
                        struct graft_error *error);

void graft_save_made_finish(struct save_made *made);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Undoing custom operations: their inputs again, for tensors of the original layout. Shared by the units of this folder
 * only; all functions are [load]. */
#ifndef GRAFT_SAVE_UNDO_H
#define GRAFT_SAVE_UNDO_H

#include "save/reverse.h"

/* `claims`, not sorted yet, are those of parameters, `mapped` (sorted; may be NULL) those of mapped tensors. The inputs
 * of every use whose outputs either of them holds join `claims`; `journal` outlives the content. Sorted on return: 0,
 * or -1 if memory ran out. */
int graft_claims_undo(const struct journal *journal, const struct claims *mapped, struct save_content *content,
                      struct claims *claims);

/* Runs what has to be undone before the tensor can be streamed, and lets go of what it does not need. */
int graft_save_undo_for(const struct save_content *content, const struct save_tensor *tensor,
                        struct graft_error *error);

void graft_save_made_finish(struct save_made *made);

#endif

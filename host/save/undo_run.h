/* SPDX-License-Identifier: Apache-2.0 */
/* Calls `reverse` of custom operations. Shared by the units of this folder only. */
#ifndef GRAFT_SAVE_UNDO_RUN_H
#define GRAFT_SAVE_UNDO_RUN_H

#include "save/content.h"

/* [load] Allocates the inputs and fills them from the outputs, whose sources have their data. On failure some inputs
 * may be allocated; save_made_finish frees them. */
int graft_undo_run(struct save_made *made, struct graft_error *error);

#endif

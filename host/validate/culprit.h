/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the module that makes a model differ from its original. */
#ifndef GRAFT_VALIDATE_CULPRIT_H
#define GRAFT_VALIDATE_CULPRIT_H

#include "validate/compare.h"

/* [load] Adds to an error about different logits the module at fault: the first one that computes other outputs than
 * the original's module from the same inputs, while no module below it does. `prompt` NULL: the fixed one. */
void graft_culprit_add(struct graft_subject *subject, struct graft_model *original, const struct graft_prompt *prompt,
                       struct graft_error *error);

#endif

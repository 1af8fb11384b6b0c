/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the module that makes a model differ from its original. */
#ifndef GRAFT_VALIDATE_CULPRIT_H
#define GRAFT_VALIDATE_CULPRIT_H

#include "validate/compare.h"

/* [load] Adds to an error about different logits the module at fault: the first one that computes other outputs than
 * the original's module from the same inputs, while no module below it does. */
void graft_culprit_add(struct graft_subject *subject, struct graft_model *original, const struct graft_prompt *prompt,
                       struct graft_error *error);

/* [load] Opens the original of the subject's model and compares the logits of both. An error about different logits
 * names the module at fault. */
int graft_compare_with_original(struct graft_subject *subject, const struct graft_prompt *prompt,
                                struct graft_error *error);

/* [any] Whether the module at `path` is below the one at `above`, by their paths; that of the root is empty. */
int graft_path_is_below(const char *path, const char *above);

#endif

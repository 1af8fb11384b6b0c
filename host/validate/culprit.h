/* SPDX-License-Identifier: Apache-2.0 */
/* Which module it is that makes a model differ from its original. */
#ifndef GRAFT_VALIDATE_CULPRIT_H
#define GRAFT_VALIDATE_CULPRIT_H

#include "validate/compare.h"

/* [load] Adds to the error, which says that the logits of the subject's model and of the original differ, which module
 * gives other outputs than the original's for the same inputs: the first one of those without such modules below. */
void graft_culprit_add(struct graft_subject *subject, struct graft_model *original, struct graft_error *error);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Finds classes that say that they are the same anywhere (GRAFT_CLASS_SAME_ANYWHERE) and are not: for `validate`. */
#ifndef GRAFT_MODEL_ALIKE_CHECK_H
#define GRAFT_MODEL_ALIKE_CHECK_H

#include "model/tree.h"

/* [load] Turns the check on (1) or off for this process. While it is on, a module that could share an earlier one's
 * description is described itself as well, and a difference is an error. */
void graft_alike_check(int is_on);
int graft_alike_check_is_on(void);

/* [load] Compares a described module with the earlier one whose description it could have shared. */
int graft_alike_compare(const struct graft_node *node, const struct graft_node *like, struct graft_error *error);

#endif

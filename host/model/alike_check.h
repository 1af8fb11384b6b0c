/* SPDX-License-Identifier: Apache-2.0 */
/* Finds classes that say that they are the same anywhere (GRAFT_CLASS_SAME_ANYWHERE) and are not: for `validate`. */
#ifndef GRAFT_MODEL_ALIKE_CHECK_H
#define GRAFT_MODEL_ALIKE_CHECK_H

#include "model/tree.h"

/* [load] From now on, in this process, with 1: a module that could share the description of an earlier one is described
 * all the same, and it is an error if that says something else. */
void graft_alike_check(int is_on);
int graft_alike_check_is_on(void);

/* [load] Compares a described module with the earlier one that it could have shared the description of. */
int graft_alike_compare(const struct graft_node *node, const struct graft_node *like, struct graft_error *error);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments of classes that the host keeps: copies, with the strings and lists that they hold. All functions are [any].
 */
#ifndef GRAFT_BASE_ARGS_H
#define GRAFT_BASE_ARGS_H

#include "graft/args.h"

/* The most arguments of one class, and the most numbers in a list. */
enum { GRAFT_MAX_ARGS = 32, GRAFT_MAX_ARG_INTS = 4096 };

/* Whether somebody else's list can be read: its count and stride, and each argument's name, kind and value. NULL is an
 * empty list. */
int graft_args_valid(const struct graft_args *args);

/* Puts copies of `more`, a valid list or NULL, behind what `args` holds ({0} at first). 0, or -1 if memory ran out:
 * then it holds some of them. */
int graft_args_append(struct graft_args *args, const struct graft_args *more);

/* Puts copies of `more`, a valid list or NULL, in the place of those of the same names, or behind them. 0, or -1 if
 * memory ran out: then `args` holds what it held. */
int graft_args_override(struct graft_args *args, const struct graft_args *more);

/* Frees what `args` holds. */
void graft_args_finish(struct graft_args *args);

#endif

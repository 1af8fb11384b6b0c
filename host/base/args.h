/* SPDX-License-Identifier: Apache-2.0 */
/* The host's own copies of class arguments, with their strings and lists. All functions are [any]. */
#ifndef GRAFT_BASE_ARGS_H
#define GRAFT_BASE_ARGS_H

#include "graft/args.h"

/* The maximum number of arguments of one class, and that of numbers in a list. */
enum { GRAFT_MAX_ARGS = 32, GRAFT_MAX_ARG_INTS = 4096 };

/* Whether a list from a plugin is valid: its count and stride, and each argument's name, kind and value. NULL is an
 * empty list. */
int graft_args_valid(const struct graft_args *args);

/* Appends copies of `more`, a valid list or NULL, to `args`, which starts as {0}. Returns 0, or -1 if memory ran out;
 * then some may have been appended. */
int graft_args_append(struct graft_args *args, const struct graft_args *more);

/* The bytes of a block, aligned for any type, that copies of both lists fit in; and the list that is made in it. */
size_t graft_args_bytes(const struct graft_args *args, const struct graft_args *more);
struct graft_args graft_args_write(void *block, const struct graft_args *args, const struct graft_args *more);

/* Replaces arguments by copies of those in `more` with the same name, and appends the others; `more` is a valid list or
 * NULL. Returns 0, or -1 with `args` unchanged if memory ran out. */
int graft_args_override(struct graft_args *args, const struct graft_args *more);

/* Frees what `args` holds. */
void graft_args_finish(struct graft_args *args);

#endif

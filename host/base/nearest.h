/* SPDX-License-Identifier: Apache-2.0 */
/* Suggestions for a name that there is not: up to three that differ from it in few letters. All functions are [any]. */
#ifndef GRAFT_BASE_NEAREST_H
#define GRAFT_BASE_NEAREST_H

#include <stddef.h>

#include "graft/error.h"

struct graft_text;

enum { GRAFT_NEAREST_NAMES = 3 };

struct graft_nearest {
    const char *wanted;                     /* set by the caller, as is `prefix`; all else is 0 */
    const char *prefix;                     /* printed before each name, such as "--"; NULL: nothing */
    const char *names[GRAFT_NEAREST_NAMES]; /* [n] the nearest first; borrowed */
    size_t distances[GRAFT_NEAREST_NAMES];  /* [n] */
    size_t n;
};

/* Considers a name. */
void graft_nearest_add(struct graft_nearest *nearest, const char *name);

/* The same of one that is as good as the wanted one. */
void graft_nearest_add_same(struct graft_nearest *nearest, const char *name);

/* Writes "did you mean A or B?", or nothing. */
void graft_nearest_print(const struct graft_nearest *nearest, struct graft_text *text);

/* The same as the hint of an error. */
void graft_nearest_hint(const struct graft_nearest *nearest, struct graft_error *error);

#endif

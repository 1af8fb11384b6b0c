/* SPDX-License-Identifier: Apache-2.0 */
/* Suggestions for an unknown name: up to three names that differ from it in few letters. All functions are [any]. */
#ifndef GRAFT_BASE_NEAREST_H
#define GRAFT_BASE_NEAREST_H

#include <stddef.h>

#include "graft/error.h"

struct graft_text;

enum { GRAFT_NEAREST_NAMES = 3 };

struct graft_nearest {
    const char *wanted;                     /* set by the caller, like `prefix`; all other members start as 0 */
    const char *prefix;                     /* printed before each name, such as "--"; NULL: nothing */
    const char *names[GRAFT_NEAREST_NAMES]; /* [n], nearest first; borrowed */
    size_t distances[GRAFT_NEAREST_NAMES];  /* [n] */
    size_t n;
};

/* Considers a name. */
void graft_nearest_add(struct graft_nearest *nearest, const char *name);

/* Adds a name that means the same as the wanted one, however it is spelled. */
void graft_nearest_add_same(struct graft_nearest *nearest, const char *name);

/* Writes "did you mean A or B?", or nothing. */
void graft_nearest_print(const struct graft_nearest *nearest, struct graft_text *text);

/* Sets the same text as the hint of an error, if there is any. */
void graft_nearest_hint(const struct graft_nearest *nearest, struct graft_error *error);

#endif

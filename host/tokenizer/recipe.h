/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A part of tokenizer.json with places for what a directory's files say, as the classes of classes.json have it:
 *
 * - a string "$NAME" is the value of NAME; "$NAME=DEFAULT" is DEFAULT (JSON, or else a string) where there is none,
 *   and DEFAULT may be another "$NAME";
 * - an object with a member "if" is there only if that value is true, one with "unless" only if it is not;
 * - {"choose": VALUE, "yes": X, "no": Y} is one of the two.
 *
 * Values that are false, null, 0 or absent are not true.
 */
#ifndef GRAFT_TOKENIZER_RECIPE_H
#define GRAFT_TOKENIZER_RECIPE_H

#include "base/json.h"

/* Where values are looked for, in this order; either may be NULL. */
struct graft_recipe_values {
    const graft_json *own;    /* what the host puts there */
    const graft_json *config; /* tokenizer_config.json */
};

/* [load] The value of "NAME" or "NAME=DEFAULT" as a new document; NULL out of memory. */
graft_json *graft_recipe_value(const struct graft_recipe_values *values, const char *name);

/* [load] The same, asked whether it is true, or -1 out of memory. */
int graft_recipe_is_true(const struct graft_recipe_values *values, const char *name);

/* [load] A value as it is, whatever stands in it; the caller's. NULL out of memory. */
graft_json *graft_recipe_copy(const graft_json *value);

/* [load] The part with its places filled; the caller's. NULL out of memory. */
graft_json *graft_recipe_fill(const struct graft_recipe_values *values, const graft_json *part);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Recipes of classes.json: parts of a tokenizer.json with placeholders for values from a directory's other files:
 * - a string "$NAME" is replaced by the value of NAME; "$NAME=DEFAULT" by DEFAULT (JSON, or else a string) if there is
 * none, and DEFAULT may be another "$NAME";
 * - an object with a member "if" is kept only if that value is true, one with "unless" only if it is not;
 * - {"choose": VALUE, "yes": X, "no": Y} is replaced by X or Y.
 * Values that are false, null, 0 or absent are not true. */
#ifndef GRAFT_TOKENIZER_RECIPE_H
#define GRAFT_TOKENIZER_RECIPE_H

#include "base/json.h"

/* Where names are looked up, in this order; either may be NULL. */
struct graft_recipe_values {
    const graft_json *own;    /* values that the host provides */
    const graft_json *config; /* tokenizer_config.json */
};

/* [load] The value of "NAME" or "NAME=DEFAULT" as a new document; NULL if memory ran out. */
graft_json *graft_recipe_value(const struct graft_recipe_values *values, const char *name);

/* [load] Whether that value is true; -1 if memory ran out. */
int graft_recipe_is_true(const struct graft_recipe_values *values, const char *name);

/* [load] A copy of a value, whose "$NAME" strings are not replaced. The caller owns it; NULL if memory ran out. */
graft_json *graft_recipe_copy(const graft_json *value);

/* [load] A copy of the part with its placeholders replaced. The caller owns it; NULL if memory ran out. */
graft_json *graft_recipe_fill(const struct graft_recipe_values *values, const graft_json *part);

#endif

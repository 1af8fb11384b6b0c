/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expressions over config.json, as family files write them: "head_dim ?? hidden_size / num_attention_heads".
 *
 * Total: no loops, no calls of other expressions, and a bounded depth, so that each ends after as many steps as its
 * text has tokens.
 *
 *     field                 the value at a dotted path (graft/config.h); null where the file has none
 *     field[expression]     an element of an array, or a letter of a string, from 0 on; null past its end
 *     layer                 the number of the layer, from 0 on; null outside of layers
 *     12 0.5 'text' true false null [a, b]    constants, and lists for `in`
 *     ?:  ??  or  and  not  == != < <= > >=  in  not in  + -  * / // %  **  unary -    weakest first
 *     sqrt(x)  log(x)  int(x)  bf16(x)  min(x, y)  max(x, y)  count(field, x)  size(field)
 *     is_array(field)
 *
 * `x ?? y` is y where x is null. `in` looks in a list or in an array of the config, and finds nothing in null. count
 * says how many elements of an array equal x, size how many there are, or how long a string is. In `in` and count an
 * element of an array is an error if x is not null and of another kind.
 * `/` of two integers is an integer, and an error where there is a remainder; `//` and `%` round down, int(x) towards
 * 0, bf16(x) to the next number of that type; log is the natural one. Integers and reals compare as numbers. A
 * condition of `?:`, `not`, `and` and `or` must be a boolean, or null, which is false; `==` and `!=` compare anything.
 * Only the branch that is taken is evaluated, and so only its fields count as used.
 */
#ifndef GRAFT_ARCH_DATA_EXPRESSION_H
#define GRAFT_ARCH_DATA_EXPRESSION_H

#include <stddef.h>
#include <stdint.h>

#include "graft/config.h"
#include "graft/error.h"

struct graft_expression; /* immutable */

enum { GRAFT_VALUE_NULL = 0, GRAFT_VALUE_BOOL = 1, GRAFT_VALUE_INT = 2, GRAFT_VALUE_REAL = 3, GRAFT_VALUE_TEXT = 4 };

struct graft_value {
    int32_t kind;     /* GRAFT_VALUE_... */
    int64_t integer;  /* for GRAFT_VALUE_INT; for GRAFT_VALUE_BOOL 0 or 1 */
    double real;      /* for GRAFT_VALUE_REAL; for GRAFT_VALUE_INT the same number */
    const char *text; /* for GRAFT_VALUE_TEXT; lives as long as both the config and the expression */
};

enum { GRAFT_EXPRESSION_MAX = 1024 /* bytes of its text */ };

/* [load] Parses `text`. NULL with the reason in `error` (GRAFT_ERROR_PLUGIN, `source` as its place, which names the
 * text and the column): 'column 7: expected a value, got ")"'. */
struct graft_expression *graft_expression_parse(const char *text, const char *source, struct graft_error *error);

/* [load] Makes an expression from a constant. The text of GRAFT_VALUE_TEXT is copied. NULL if memory ran out. */
struct graft_expression *graft_expression_constant(const struct graft_value *value, struct graft_error *error);

/* [load] Accepts NULL. */
void graft_expression_destroy(struct graft_expression *expression);

/* [any] The text that was parsed; for a constant, its text in a family file. */
const char *graft_expression_text(const struct graft_expression *expression);

/* [any] Calls `visit` with the path of each field that the text mentions, once for each, in order. A result other than
 * 0 ends the calls and is returned. */
int graft_expression_uses(const struct graft_expression *expression, int (*visit)(void *data, const char *path),
                          void *data);

/* [any] The path of the field that determines the value for this config, for messages: for "a ?? b" `a` if the file has
 * it or b is a constant, else `b`; for "a[i]" `a`. NULL if there is no single one. */
const char *graft_expression_field(const struct graft_expression *expression, const struct graft_config *config,
                                   int64_t layer);

/* [load] Evaluates an expression; `layer` is -1 outside of layers. Errors (GRAFT_ERROR_MODEL) name file and field:
 * 'hidden_size: missing, expected a number', 'num_attention_heads: 3 does not divide hidden_size (64)'. */
int graft_expression_evaluate(const struct graft_expression *expression, const struct graft_config *config,
                              int64_t layer, struct graft_value *value, struct graft_error *error);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* JSON as rules: values without any space between their parts. */
#ifndef GRAFT_GRAMMAR_JSON_RULES_H
#define GRAFT_GRAMMAR_JSON_RULES_H

#include "base/json.h"
#include "grammar/rules.h"

/* The value as a grammar has it: without space, and numbers without a fraction that is 0. The caller frees it with
 * graft_free; NULL if memory ran out. */
char *graft_json_tight(const graft_json *value);

/* A character of a string, in whatever spelling JSON has for it. */
void graft_json_character_rules(struct graft_rules *rules, int32_t from, int32_t to);

/* A string; its quotes are included. */
void graft_json_string_rules(struct graft_rules *rules, int32_t from, int32_t to);

/* A number; an integer without fraction and exponent. */
void graft_json_number_rules(struct graft_rules *rules, int32_t from, int32_t to);
void graft_json_integer_rules(struct graft_rules *rules, int32_t from, int32_t to);

/* One of `n` texts, which are put in order. Those that begin alike share their states. */
void graft_json_text_rules(struct graft_rules *rules, int32_t from, int32_t to, char **texts, size_t n);

/* Numbers within bounds, written without an exponent. */
struct graft_number_bounds {
    const graft_json *least, *most; /* numbers; NULL: none */
    int excludes_least, excludes_most;
    const graft_json *divisor; /* a number > 0; NULL: none */
    int is_integer;            /* without a fraction */
};

/* `*fault` is what cannot be done, or NULL: then memory ran out where GRAFT_ERROR_INTERNAL is returned. */
int graft_json_bounded_rules(struct graft_rules *rules, int32_t from, int32_t to,
                             const struct graft_number_bounds *bounds, const char **fault);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Rules for JSON values, written without spaces between their parts. */
#ifndef GRAFT_GRAMMAR_JSON_RULES_H
#define GRAFT_GRAMMAR_JSON_RULES_H

#include "base/json.h"
#include "grammar/rules.h"

/* Writes a value as these rules accept it: without spaces, and "1" instead of "1.0". The caller frees the text with
 * graft_free; NULL if memory ran out. */
char *graft_json_tight(const graft_json *value);

/* Any character of a string, as itself or as any escape that JSON has for it. */
void graft_json_character_rules(struct graft_rules *rules, int32_t from, int32_t to);

/* Any string, with its quotes. */
void graft_json_string_rules(struct graft_rules *rules, int32_t from, int32_t to);

/* Any number; any integer, written without a fraction and an exponent. */
void graft_json_number_rules(struct graft_rules *rules, int32_t from, int32_t to);
void graft_json_integer_rules(struct graft_rules *rules, int32_t from, int32_t to);

/* One of `n` texts, which are sorted here. Texts with a common prefix share its states. */
void graft_json_text_rules(struct graft_rules *rules, int32_t from, int32_t to, char **texts, size_t n);

/* What a number must satisfy. Such numbers are written without an exponent. */
struct graft_number_bounds {
    const graft_json *least, *most;    /* numbers; NULL: no bound */
    int excludes_least, excludes_most; /* 1: the bound itself does not fit */
    const graft_json *divisor;         /* a number > 0; NULL: none */
    int is_integer;                    /* without a fraction */
};

/* Returns GRAFT_OK, GRAFT_ERROR_INTERNAL if memory ran out, or GRAFT_ERROR_USAGE, and `*fault` then says why; it is
 * NULL otherwise. */
int graft_json_bounded_rules(struct graft_rules *rules, int32_t from, int32_t to,
                             const struct graft_number_bounds *bounds, const char **fault);

#endif

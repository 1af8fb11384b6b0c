/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Grammars as people write them (GBNF): NAME ::= ALTERNATIVE | ALTERNATIVE, beginning with the rule `root`. An
 * alternative is a sequence of "texts", [characters], '.' for any character, names and (groups), each of which may be
 * followed by ?, *, +, {n}, {n,}, {,m} or {n,m}. A rule ends with its line, except inside a group and right after ::=
 * or
 * |, where it may go on with the next. A # begins a comment.
 */
#ifndef GRAFT_GRAMMAR_GBNF_H
#define GRAFT_GRAMMAR_GBNF_H

#include "grammar/rules.h"

/* Adds the rules of a grammar to `rules`, which is {0}; graft_rules_finish follows. Errors are GRAFT_ERROR_USAGE with
 * line and column. */
int graft_gbnf_read(const char *text, size_t length, const char *source, struct graft_rules *rules,
                    struct graft_error *error);

#endif

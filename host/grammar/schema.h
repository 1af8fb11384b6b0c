/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON schemas (draft 2020-12) as grammars: the values that fit, written without space, members in the order in which
 * the schema has them. What a schema says is done or refused, never passed over: docs/structured.md has the table.
 */
#ifndef GRAFT_GRAMMAR_SCHEMA_H
#define GRAFT_GRAMMAR_SCHEMA_H

#include "base/json.h"
#include "grammar/rules.h"

/* Adds the rules of a schema to `rules`, which is {0}; they are still to be finished. Errors are GRAFT_ERROR_USAGE and
 * begin with the JSON pointer of what they are about. */
int graft_schema_read(const graft_json *schema, const char *source, struct graft_rules *rules,
                      struct graft_error *error);

#endif

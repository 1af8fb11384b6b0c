/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns a JSON schema (draft 2020-12) into a grammar of the values that fit it, written without spaces and with members
 * in the order of the schema. Each keyword is either enforced or refused, never ignored; docs/structured.md lists them.
 */
#ifndef GRAFT_GRAMMAR_SCHEMA_H
#define GRAFT_GRAMMAR_SCHEMA_H

#include "base/json.h"
#include "grammar/rules.h"

/* Adds the rules of a schema to `rules`, which is {0}; graft_rules_finish follows. Errors are GRAFT_ERROR_USAGE, and
 * their message begins with the JSON pointer of the schema at fault. */
int graft_schema_read(const graft_json *schema, const char *source, struct graft_rules *rules,
                      struct graft_error *error);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internals of reading a schema, for the files schema*.c. A value must fit all schemas of a list: one of the document,
 * with those that its $ref and allOf lead to. Where a schema has alternatives (anyOf, oneOf), each of them in turn is
 * combined with the rest of the list.
 */
#ifndef GRAFT_GRAMMAR_SCHEMA_PARTS_H
#define GRAFT_GRAMMAR_SCHEMA_PARTS_H

#include "base/arena.h"
#include "grammar/dfa.h"
#include "grammar/json_rules.h"
#include "grammar/schema.h"

enum {
    GRAFT_SCHEMA_MOST_DEPTH = 200,
    GRAFT_SCHEMA_MOST_WORK = 200000,   /* schemas put into lists, all together */
    GRAFT_SCHEMA_MOST_TOGETHER = 1000, /* schemas in one list */
    GRAFT_SCHEMA_MOST_RULES = 20000
};

/* A schema and its place in the document. */
struct graft_schema_at {
    const graft_json *schema;
    const char *pointer; /* JSON pointer; "" for the root */
};

/* Starts as {0}. */
struct graft_schema_list {
    struct graft_schema_at *items; /* [n] */
    size_t n, capacity;
};

enum {
    GRAFT_TYPE_NULL = 1,
    GRAFT_TYPE_BOOLEAN = 2,
    GRAFT_TYPE_OBJECT = 4,
    GRAFT_TYPE_ARRAY = 8,
    GRAFT_TYPE_STRING = 16,
    GRAFT_TYPE_INTEGER = 32,
    GRAFT_TYPE_FRACTION = 64, /* numbers that are no integers */
    GRAFT_TYPE_ALL = 127
};

/* The rule for a list of schemas, which is made once and called wherever the same list is met. */
struct graft_schema_rule {
    struct graft_schema_list list;
    int32_t rule;
};

struct graft_schema_reader {
    const graft_json *root;
    const char *source;
    struct graft_rules *rules;
    struct graft_error *error;
    struct graft_arena arena;       /* owns the JSON pointers */
    struct graft_schema_rule *made; /* [n_made] */
    size_t n_made, made_capacity;
    int32_t string, number, integer, character; /* rules for any of these; 0: not made yet */
    int depth;
    int work;
    int status;
};

/* Records an error about a place in the schema. */
void graft_schema_fail(struct graft_schema_reader *reader, const char *pointer, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Records that memory ran out. */
void graft_schema_fail_memory(struct graft_schema_reader *reader);

/* Records the error that a function of dfa.h or json_rules.h returned for a keyword, if any. `fault` may be NULL. */
void graft_schema_check(struct graft_schema_reader *reader, int status, const char *pointer, const char *keyword,
                        const char *fault);

/* The schema below a keyword: the keyword's own value, its member `name`, or its element `index` (>= 0). */
struct graft_schema_at graft_schema_below(struct graft_schema_reader *reader, const struct graft_schema_at *at,
                                          const char *keyword, const char *name, int64_t index);

/* Adds a schema to a list, unless it is there already. */
void graft_schema_append(struct graft_schema_reader *reader, struct graft_schema_list *list, struct graft_schema_at at);

/* The value of a keyword. NULL if the schema does not have it, or if it has another type, which is recorded as an
 * error. */
const graft_json *graft_schema_keyword(struct graft_schema_reader *reader, const struct graft_schema_at *at,
                                       const char *keyword, enum graft_json_type type);

/* The largest count that a keyword has in these schemas or, with `least`, the smallest; -1: none has it. */
int64_t graft_schema_counts(struct graft_schema_reader *reader, const struct graft_schema_list *list,
                            const char *keyword, int least);

/* The schema that a `$ref` of `at` leads to. */
struct graft_schema_at graft_schema_refer(struct graft_schema_reader *reader, const struct graft_schema_at *at,
                                          const char *reference);

/* Refuses keywords that are not supported. */
void graft_schema_check_keywords(struct graft_schema_reader *reader, const struct graft_schema_at *at);

/* The types that `type` of a schema allows; GRAFT_TYPE_ALL without it. And the type of a value. */
int graft_schema_types(struct graft_schema_reader *reader, const struct graft_schema_at *at);
int graft_schema_type_of(const graft_json *value);

/* Whether the array of an `enum` has an equal value. */
int graft_schema_is_in(const graft_json *values, const graft_json *value);

/* Checks that no value can fit two alternatives of oneOf, which the rules could not exclude. */
void graft_schema_check_apart(struct graft_schema_reader *reader, const struct graft_schema_at *at);

/* The rule for values that fit all schemas of a list. */
int32_t graft_schema_rule_of(struct graft_schema_reader *reader, const struct graft_schema_list *list);

/* Add the values of one type that fit all schemas of a list. Alternatives are not looked at. */
void graft_schema_add_object(struct graft_schema_reader *reader, const struct graft_schema_list *list, int32_t from,
                             int32_t to);
void graft_schema_add_array(struct graft_schema_reader *reader, const struct graft_schema_list *list, int32_t from,
                            int32_t to);
void graft_schema_add_string(struct graft_schema_reader *reader, const struct graft_schema_list *list, int32_t from,
                             int32_t to);
void graft_schema_add_number(struct graft_schema_reader *reader, const struct graft_schema_list *list, int is_integer,
                             int32_t from, int32_t to);

/* Makes an automaton of the strings that fit, from pattern, format and the lengths. Returns 0 if any string fits, and
 * leaves `made` empty; 1 otherwise. */
int graft_schema_strings(struct graft_schema_reader *reader, const struct graft_schema_list *list,
                         struct graft_dfa *made);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of reading a schema, for the files schema*.c. What a value must fit is a list of schemas, all at once: one
 * that stands somewhere, with those that it refers to and those of its allOf. Where one has alternatives (anyOf), the
 * rest of the list is joined with each in turn.
 */
#ifndef GRAFT_GRAMMAR_SCHEMA_PARTS_H
#define GRAFT_GRAMMAR_SCHEMA_PARTS_H

#include "base/arena.h"
#include "grammar/dfa.h"
#include "grammar/json_rules.h"
#include "grammar/schema.h"

enum {
    GRAFT_SCHEMA_MOST_DEPTH = 200,
    GRAFT_SCHEMA_MOST_WORK = 200000,   /* schemas put into lists */
    GRAFT_SCHEMA_MOST_TOGETHER = 1000, /* of a list */
    GRAFT_SCHEMA_MOST_RULES = 20000
};

/* A schema where it stands. */
struct graft_schema_at {
    const graft_json *schema;
    const char *pointer; /* "" for the root */
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

/* Rules for a list of schemas that were made before. */
struct graft_schema_rule {
    struct graft_schema_list list;
    int32_t rule;
};

struct graft_schema_reader {
    const graft_json *root;
    const char *source;
    struct graft_rules *rules;
    struct graft_error *error;
    struct graft_arena arena; /* pointers */
    struct graft_schema_rule *made;
    size_t n_made, made_capacity;
    int32_t string, number, integer, character; /* rules; 0: not made yet */
    int depth;
    int work;
    int status;
};

/* Records an error about a place in the schema. */
void graft_schema_fail(struct graft_schema_reader *reader, const char *pointer, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Records that memory ran out. */
void graft_schema_fail_memory(struct graft_schema_reader *reader);

/* Whatever a function of dfa.h or json_rules.h returned; `keyword` is what it was about. */
void graft_schema_check(struct graft_schema_reader *reader, int status, const char *pointer, const char *keyword,
                        const char *fault);

/* The place of a member, or of an element of a member's array (`index` >= 0). */
struct graft_schema_at graft_schema_below(struct graft_schema_reader *reader, const struct graft_schema_at *at,
                                          const char *keyword, const char *name, int64_t index);

void graft_schema_append(struct graft_schema_reader *reader, struct graft_schema_list *list, struct graft_schema_at at);

/* The keyword of a schema, of that type. NULL if it is not there. */
const graft_json *graft_schema_keyword(struct graft_schema_reader *reader, const struct graft_schema_at *at,
                                       const char *keyword, enum graft_json_type type);

/* The largest, or with `least` the smallest, of what the schemas say; -1: nothing. */
int64_t graft_schema_counts(struct graft_schema_reader *reader, const struct graft_schema_list *list,
                            const char *keyword, int least);

/* What `$ref` leads to. */
struct graft_schema_at graft_schema_refer(struct graft_schema_reader *reader, const struct graft_schema_at *at,
                                          const char *reference);

/* All keywords of a schema are known; those that are not done are refused. */
void graft_schema_check_keywords(struct graft_schema_reader *reader, const struct graft_schema_at *at);

/* The types that a schema allows by `type`; GRAFT_TYPE_ALL without it. */
int graft_schema_types(struct graft_schema_reader *reader, const struct graft_schema_at *at);
int graft_schema_type_of(const graft_json *value);

/* Whether a value is one of those of `enum`. */
int graft_schema_is_in(const graft_json *values, const graft_json *value);

/* The alternatives of oneOf, of which a value fits one at most. */
void graft_schema_check_apart(struct graft_schema_reader *reader, const struct graft_schema_at *at);

/* A value that fits all of these: by a call, or in place. */
int32_t graft_schema_rule_of(struct graft_schema_reader *reader, const struct graft_schema_list *list);

/* Values of one type that fit all of these, without looking at alternatives. */
void graft_schema_add_object(struct graft_schema_reader *reader, const struct graft_schema_list *list, int32_t from,
                             int32_t to);
void graft_schema_add_array(struct graft_schema_reader *reader, const struct graft_schema_list *list, int32_t from,
                            int32_t to);
void graft_schema_add_string(struct graft_schema_reader *reader, const struct graft_schema_list *list, int32_t from,
                             int32_t to);
void graft_schema_add_number(struct graft_schema_reader *reader, const struct graft_schema_list *list, int is_integer,
                             int32_t from, int32_t to);

/* The strings that fit, as an automaton: names of members have nothing else. 0: any string fits, and `made` is empty;
 * else 1. */
int graft_schema_strings(struct graft_schema_reader *reader, const struct graft_schema_list *list,
                         struct graft_dfa *made);

#endif

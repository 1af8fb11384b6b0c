/* SPDX-License-Identifier: Apache-2.0 */
#include "grammar/schema.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "grammar/schema_parts.h"

void graft_schema_fail(struct graft_schema_reader *reader, const char *pointer, const char *format, ...) {
    char text[300];
    va_list arguments;
    if (reader->status != GRAFT_OK) {
        return;
    }
    va_start(arguments, format);
    graft_error_write(text, sizeof text, format, arguments);
    va_end(arguments);
    reader->status = graft_error_set(reader->error, GRAFT_ERROR_USAGE, reader->source, "%s: %s",
                                     pointer[0] != '\0' ? pointer : "the schema", text);
}

void graft_schema_fail_memory(struct graft_schema_reader *reader) {
    if (reader->status == GRAFT_OK) {
        reader->status = graft_fail_memory(reader->error, reader->source);
    }
}

void graft_schema_check(struct graft_schema_reader *reader, int status, const char *pointer, const char *keyword,
                        const char *fault) {
    if (status == GRAFT_ERROR_USAGE) {
        graft_schema_fail(reader, pointer, "%s: %s", keyword, fault != NULL ? fault : "it is too large");
    } else if (status != GRAFT_OK) {
        graft_schema_fail_memory(reader);
    }
}

void graft_schema_append(struct graft_schema_reader *reader, struct graft_schema_list *list,
                         struct graft_schema_at at) {
    if (reader->status != GRAFT_OK || at.schema == NULL) {
        return;
    }
    for (size_t i = 0; i < list->n; i++) {
        if (list->items[i].schema == at.schema) {
            return;
        }
    }
    if (++reader->work > GRAFT_SCHEMA_MOST_WORK || list->n >= GRAFT_SCHEMA_MOST_TOGETHER) {
        graft_schema_fail(reader, at.pointer, "the schema is too large");
    } else if (graft_grow(&list->items, &list->capacity, list->n, sizeof *list->items) != 0) {
        graft_schema_fail_memory(reader);
    } else {
        list->items[list->n++] = at;
    }
}

/* Adds a name to a pointer, as RFC 6901 writes it. */
static void add_name(struct graft_text *text, const char *name) {
    graft_text_add(text, "/", 1);
    for (; *name != '\0'; name++) {
        if (*name == '~' || *name == '/') {
            graft_text_add(text, *name == '~' ? "~0" : "~1", 2);
        } else {
            graft_text_add(text, name, 1);
        }
    }
}

struct graft_schema_at graft_schema_below(struct graft_schema_reader *reader, const struct graft_schema_at *at,
                                          const char *keyword, const char *name, int64_t index) {
    struct graft_text text = {0};
    struct graft_schema_at below = {.schema = graft_json_get(at->schema, keyword), .pointer = ""};
    graft_text_add_string(&text, at->pointer);
    add_name(&text, keyword);
    if (name != NULL) {
        below.schema = graft_json_get(below.schema, name);
        add_name(&text, name);
    } else if (index >= 0) {
        below.schema = graft_json_at(below.schema, (size_t)index);
        graft_text_printf(&text, "/%lld", (long long)index);
    }
    const char *pointer = text.failed ? NULL : graft_arena_strdup(&reader->arena, text.bytes);
    graft_text_free(&text);
    if (pointer == NULL) {
        graft_schema_fail_memory(reader);
        return below;
    }
    below.pointer = pointer;
    const enum graft_json_type type = graft_json_type(below.schema);
    if (type != GRAFT_JSON_OBJECT && type != GRAFT_JSON_BOOL) {
        graft_schema_fail(reader, pointer, "expected a schema, an object or a boolean");
    }
    return below;
}

const graft_json *graft_schema_keyword(struct graft_schema_reader *reader, const struct graft_schema_at *at,
                                       const char *keyword, enum graft_json_type type) {
    const graft_json *value = graft_json_get(at->schema, keyword);
    static const char *const names[] = {"",         "null",     "a boolean", "an integer",
                                        "a number", "a string", "an array",  "an object"};
    if (value != NULL && graft_json_type(value) != type &&
        !(type == GRAFT_JSON_REAL && graft_json_type(value) == GRAFT_JSON_INT)) {
        graft_schema_fail(reader, at->pointer, "%s: expected %s, found %s", keyword, names[type],
                          graft_json_type_name(value));
        return NULL;
    }
    return value;
}

/* A count that a keyword says, or -1. */
static int64_t read_count(struct graft_schema_reader *reader, const struct graft_schema_at *at, const char *keyword) {
    const graft_json *value = graft_schema_keyword(reader, at, keyword, GRAFT_JSON_REAL);
    if (value == NULL) {
        return -1;
    }
    const double count = graft_json_real(value);
    if (!(count >= 0 && count <= GRAFT_RULES_MOST_EDGES) || count != (double)(int64_t)count) {
        graft_schema_fail(reader, at->pointer, "%s: expected a number from 0 to %d without a fraction", keyword,
                          (int)GRAFT_RULES_MOST_EDGES);
        return -1;
    }
    return (int64_t)count;
}

int64_t graft_schema_counts(struct graft_schema_reader *reader, const struct graft_schema_list *list,
                            const char *keyword, int least) {
    int64_t found = -1;
    for (size_t i = 0; i < list->n; i++) {
        const int64_t count = read_count(reader, &list->items[i], keyword);
        if (count >= 0 && (found < 0 || (least ? count < found : count > found))) {
            found = count;
        }
    }
    return found;
}

/* --- Lists of schemas --- */

/* A keyword of a schema, anyOf or oneOf, that lists alternatives. */
struct choice {
    struct graft_schema_at at;
    const char *keyword;
};

struct choices {
    struct choice *items;
    size_t n, capacity;
};

static void add_choice(struct graft_schema_reader *reader, struct choices *choices, const struct graft_schema_at *at,
                       const char *keyword) {
    const graft_json *list = graft_schema_keyword(reader, at, keyword, GRAFT_JSON_ARRAY);
    if (reader->status != GRAFT_OK || list == NULL) {
        return;
    }
    if (graft_json_size(list) == 0) {
        graft_schema_fail(reader, at->pointer, "%s: expected at least one schema", keyword);
    } else if (graft_grow(&choices->items, &choices->capacity, choices->n, sizeof *choices->items) != 0) {
        graft_schema_fail_memory(reader);
    } else {
        choices->items[choices->n++] = (struct choice){*at, keyword};
    }
}

/* The schemas that $ref and allOf led through, the last one first: a schema among them refers to itself. */
struct way {
    const graft_json *schema;
    const struct way *before;
};

/* Adds a schema to `list`, with those that its $ref and allOf lead to; their anyOf and oneOf go into `choices`. */
static void flatten(struct graft_schema_reader *reader, struct graft_schema_at at, const struct way *before_it,
                    struct graft_schema_list *list, struct choices *choices) {
    const size_t before = list->n;
    const struct way way = {at.schema, before_it};
    for (const struct way *up = before_it; up != NULL; up = up->before) {
        if (up->schema == at.schema) {
            graft_schema_fail(reader, at.pointer, "it stands for itself, by $ref or allOf");
        }
    }
    graft_schema_append(reader, list, at);
    if (reader->status != GRAFT_OK || list->n == before || graft_json_type(at.schema) == GRAFT_JSON_BOOL) {
        return;
    }
    if (++reader->depth > GRAFT_SCHEMA_MOST_DEPTH) {
        graft_schema_fail(reader, at.pointer, "more than %d schemas within schemas", (int)GRAFT_SCHEMA_MOST_DEPTH);
        return;
    }
    graft_schema_check_keywords(reader, &at);
    const graft_json *reference = graft_schema_keyword(reader, &at, "$ref", GRAFT_JSON_STRING);
    if (reference != NULL) {
        const struct graft_schema_at target = graft_schema_refer(reader, &at, graft_json_string(reference, NULL));
        flatten(reader, target, &way, list, choices);
    }
    const graft_json *all = graft_schema_keyword(reader, &at, "allOf", GRAFT_JSON_ARRAY);
    for (size_t i = 0; i < graft_json_size(all) && reader->status == GRAFT_OK; i++) {
        flatten(reader, graft_schema_below(reader, &at, "allOf", NULL, (int64_t)i), &way, list, choices);
    }
    add_choice(reader, choices, &at, "anyOf");
    add_choice(reader, choices, &at, "oneOf");
    if (graft_json_get(at.schema, "oneOf") != NULL && reader->status == GRAFT_OK) {
        graft_schema_check_apart(reader, &at);
    }
    reader->depth--;
}

/* --- Values --- */

/* Whether the schemas have no keywords that constrain a value, except those that lead to other schemas. */
static int says_nothing(const struct graft_schema_list *list) {
    static const char *const others[] = {"$ref",    "allOf",      "anyOf",    "oneOf",    "$defs",     "definitions",
                                         "$schema", "$id",        "$anchor",  "$comment", "title",     "description",
                                         "default", "deprecated", "examples", "readOnly", "writeOnly", NULL};
    for (size_t i = 0; i < list->n; i++) {
        const graft_json *schema = list->items[i].schema;
        if (graft_json_type(schema) == GRAFT_JSON_BOOL ? !graft_json_bool(schema)
                                                       : graft_json_other_key(schema, others) != NULL) {
            return 0;
        }
    }
    return 1;
}

/* Whether a value is allowed by `enum` and `const` of all schemas, and has one of the types. */
static int is_listed(const struct graft_schema_list *list, int types, const graft_json *value) {
    int is = (types & graft_schema_type_of(value)) != 0;
    for (size_t i = 0; i < list->n && is; i++) {
        const graft_json *values = graft_json_get(list->items[i].schema, "enum");
        const graft_json *constant = graft_json_get(list->items[i].schema, "const");
        is = (values == NULL || graft_schema_is_in(values, value)) &&
             (constant == NULL || graft_json_equal(constant, value));
    }
    return is;
}

/* Refuses keywords next to enum or const that would have to be checked on each listed value. */
static void check_listed(struct graft_schema_reader *reader, const struct graft_schema_list *list) {
    static const char *const others[] = {"minLength",     "maxLength",     "pattern",       "format",
                                         "minimum",       "maximum",       "multipleOf",    "exclusiveMinimum",
                                         "properties",    "required",      "items",         "exclusiveMaximum",
                                         "prefixItems",   "minItems",      "maxItems",      "additionalProperties",
                                         "minProperties", "maxProperties", "propertyNames", "patternProperties"};
    for (size_t i = 0; i < list->n; i++) {
        for (size_t j = 0; j < sizeof others / sizeof *others; j++) {
            if (graft_json_get(list->items[i].schema, others[j]) != NULL) {
                graft_schema_fail(reader, list->items[i].pointer, "%s beside enum or const is not supported",
                                  others[j]);
            }
        }
    }
}

static void add_values(struct graft_schema_reader *reader, const struct graft_schema_list *list, int types,
                       const graft_json *first, int is_list, int32_t from, int32_t to) {
    const size_t n = is_list ? graft_json_size(first) : 1;
    char **texts = graft_alloc(n, sizeof *texts);
    size_t n_kept = 0;
    int failed = texts == NULL;
    check_listed(reader, list);
    for (size_t i = 0; i < n && !failed && reader->status == GRAFT_OK; i++) {
        const graft_json *value = is_list ? graft_json_at(first, i) : first;
        if (is_listed(list, types, value)) {
            texts[n_kept] = graft_json_tight(value);
            failed = texts[n_kept] == NULL;
            n_kept += !failed;
        }
    }
    if (failed) {
        graft_schema_fail_memory(reader);
    } else if (reader->status == GRAFT_OK) {
        graft_json_text_rules(reader->rules, from, to, texts, n_kept);
    }
    for (size_t i = 0; i < n_kept; i++) {
        graft_free(texts[i]);
    }
    graft_free(texts);
}

/* Adds the values that fit all schemas of the list; anyOf and oneOf have been resolved by then. */
static void add_types(struct graft_schema_reader *reader, const struct graft_schema_list *list, int32_t from,
                      int32_t to) {
    int types = GRAFT_TYPE_ALL;
    for (size_t i = 0; i < list->n; i++) {
        types &= graft_schema_types(reader, &list->items[i]);
    }
    for (size_t i = 0; i < list->n && reader->status == GRAFT_OK; i++) {
        const graft_json *values = graft_schema_keyword(reader, &list->items[i], "enum", GRAFT_JSON_ARRAY);
        const graft_json *constant = graft_json_get(list->items[i].schema, "const");
        if (values != NULL || constant != NULL) {
            add_values(reader, list, types, values != NULL ? values : constant, values != NULL, from, to);
            return;
        }
    }
    if (reader->status != GRAFT_OK) {
        return;
    }
    if (types & GRAFT_TYPE_NULL) {
        graft_rules_text(reader->rules, from, to, "null", 4);
    }
    if (types & GRAFT_TYPE_BOOLEAN) {
        graft_rules_text(reader->rules, from, to, "true", 4);
        graft_rules_text(reader->rules, from, to, "false", 5);
    }
    if (types & GRAFT_TYPE_STRING) {
        graft_schema_add_string(reader, list, from, to);
    }
    if (types & GRAFT_TYPE_INTEGER) {
        graft_schema_add_number(reader, list, !(types & GRAFT_TYPE_FRACTION), from, to);
    }
    if (types & GRAFT_TYPE_ARRAY) {
        graft_schema_add_array(reader, list, from, to);
    }
    if (types & GRAFT_TYPE_OBJECT) {
        graft_schema_add_object(reader, list, from, to);
    }
}

/* Adds the values for each alternative of choices->items[next], combined with each alternative of the choices after
 * it. */
static void add_choices(struct graft_schema_reader *reader, const struct graft_schema_list *list,
                        const struct choices *choices, size_t next, int32_t from, int32_t to) {
    if (next == choices->n) {
        add_types(reader, list, from, to);
        return;
    }
    const struct choice *choice = &choices->items[next];
    const size_t n = graft_json_size(graft_json_get(choice->at.schema, choice->keyword));
    /* Where nothing else constrains the value, each alternative is a rule of its own, which other schemas may call too.
     */
    const int alone = choices->n == 1 && says_nothing(list);
    for (size_t i = 0; i < n && reader->status == GRAFT_OK; i++) {
        struct graft_schema_list with = {0};
        struct choices more = {0};
        const struct graft_schema_at branch =
            graft_schema_below(reader, &choice->at, choice->keyword, NULL, (int64_t)i);
        if (++reader->depth > GRAFT_SCHEMA_MOST_DEPTH) {
            graft_schema_fail(reader, branch.pointer, "more than %d schemas within schemas",
                              (int)GRAFT_SCHEMA_MOST_DEPTH);
        } else if (alone) {
            graft_schema_append(reader, &with, branch);
            graft_rules_call(reader->rules, from, to, graft_schema_rule_of(reader, &with));
        } else {
            for (size_t j = 0; j < list->n; j++) {
                graft_schema_append(reader, &with, list->items[j]);
            }
            flatten(reader, branch, NULL, &with, &more);
            for (size_t j = next + 1; j < choices->n; j++) {
                add_choice(reader, &more, &choices->items[j].at, choices->items[j].keyword);
            }
            if (reader->status == GRAFT_OK) {
                add_choices(reader, &with, &more, 0, from, to);
            }
        }
        reader->depth--;
        graft_free(with.items);
        graft_free(more.items);
    }
}

static void add_value(struct graft_schema_reader *reader, const struct graft_schema_list *list, int32_t from,
                      int32_t to) {
    struct graft_schema_list all = {0};
    struct choices choices = {0};
    for (size_t i = 0; i < list->n; i++) {
        flatten(reader, list->items[i], NULL, &all, &choices);
    }
    if (reader->status == GRAFT_OK) {
        add_choices(reader, &all, &choices, 0, from, to);
    }
    graft_free(all.items);
    graft_free(choices.items);
}

static int compare(const void *left, const void *right) {
    const struct graft_schema_at *a = left, *b = right;
    return (a->schema > b->schema) - (a->schema < b->schema);
}

static int is_same(const struct graft_schema_list *a, const struct graft_schema_list *b) {
    int same = a->n == b->n;
    for (size_t i = 0; i < a->n && same; i++) {
        same = a->items[i].schema == b->items[i].schema;
    }
    return same;
}

int32_t graft_schema_rule_of(struct graft_schema_reader *reader, const struct graft_schema_list *list) {
    struct graft_schema_rule made = {0};
    for (size_t i = 0; i < list->n; i++) {
        graft_schema_append(reader, &made.list, list->items[i]);
    }
    if (reader->status == GRAFT_OK && made.list.n > 0) {
        qsort(made.list.items, made.list.n, sizeof *made.list.items, compare);
    }
    for (size_t i = 0; i < reader->n_made && reader->status == GRAFT_OK; i++) {
        if (is_same(&reader->made[i].list, &made.list)) {
            graft_free(made.list.items);
            return reader->made[i].rule;
        }
    }
    if (reader->n_made >= GRAFT_SCHEMA_MOST_RULES) {
        graft_schema_fail(reader, list->n > 0 ? list->items[0].pointer : "", "the schema is too large");
    }
    if (reader->status == GRAFT_OK &&
        graft_grow(&reader->made, &reader->made_capacity, reader->n_made, sizeof *reader->made) != 0) {
        graft_schema_fail_memory(reader);
    }
    if (reader->status != GRAFT_OK) {
        graft_free(made.list.items);
        return 0;
    }
    const char *name = list->n > 0 && list->items[0].pointer[0] != '\0' ? list->items[0].pointer : "the schema";
    made.rule = graft_rules_add(reader->rules, name, strlen(name));
    reader->made[reader->n_made++] = made;
    return made.rule;
}

/* Makes all rules, one after another. Making one may ask for others, which are appended to the list. */
static void make_rules(struct graft_schema_reader *reader) {
    for (size_t i = 0; i < reader->n_made && reader->status == GRAFT_OK && reader->rules->failed == 0; i++) {
        const struct graft_schema_rule made = reader->made[i];
        reader->depth = 0;
        add_value(reader, &made.list, graft_rules_start(reader->rules, made.rule),
                  graft_rules_end(reader->rules, made.rule));
    }
}

int graft_schema_read(const graft_json *schema, const char *source, struct graft_rules *rules,
                      struct graft_error *error) {
    struct graft_schema_reader reader = {.root = schema, .source = source, .rules = rules, .error = error};
    struct graft_schema_list list = {0};
    const enum graft_json_type type = graft_json_type(schema);
    if (type != GRAFT_JSON_OBJECT && type != GRAFT_JSON_BOOL) {
        graft_schema_fail(&reader, "", "expected an object or a boolean, found %s", graft_json_type_name(schema));
    }
    graft_schema_append(&reader, &list, (struct graft_schema_at){schema, ""});
    (void)graft_schema_rule_of(&reader, &list); /* rule number 0 */
    make_rules(&reader);
    for (size_t i = 0; i < reader.n_made; i++) {
        graft_free(reader.made[i].list.items);
    }
    graft_free(reader.made);
    graft_free(list.items);
    graft_arena_finish(&reader.arena);
    return reader.status;
}

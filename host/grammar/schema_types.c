/* SPDX-License-Identifier: Apache-2.0 */
/* Questions about a single schema: its keywords, what its $ref leads to, and which types it allows. */
#include <string.h>

#include "base/alloc.h"
#include "base/hex.h"
#include "grammar/schema_parts.h"

/* Keywords that are supported, including those that have no influence on which values fit. */
static const char *const known[] = {"type",
                                    "enum",
                                    "const",
                                    "properties",
                                    "required",
                                    "additionalProperties",
                                    "minProperties",
                                    "maxProperties",
                                    "items",
                                    "patternProperties",
                                    "prefixItems",
                                    "propertyNames",
                                    "minItems",
                                    "maxItems",
                                    "minLength",
                                    "maxLength",
                                    "pattern",
                                    "format",
                                    "minimum",
                                    "maximum",
                                    "multipleOf",
                                    "exclusiveMinimum",
                                    "exclusiveMaximum",
                                    "allOf",
                                    "anyOf",
                                    "oneOf",
                                    "$ref",
                                    "$defs",
                                    "definitions",
                                    "$schema",
                                    "$anchor",
                                    "$comment",
                                    "title",
                                    "description",
                                    "default",
                                    "deprecated",
                                    "examples",
                                    "readOnly",
                                    "writeOnly",
                                    "contentEncoding",
                                    "contentMediaType",
                                    "contentSchema",
                                    NULL};

static int is_known(const char *keyword) {
    for (size_t i = 0; known[i] != NULL; i++) {
        if (strcmp(known[i], keyword) == 0) {
            return 1;
        }
    }
    return 0;
}

void graft_schema_check_keywords(struct graft_schema_reader *reader, const struct graft_schema_at *at) {
    void *iterator = NULL;
    const char *keyword = NULL;
    const graft_json *value = NULL;
    while (reader->status == GRAFT_OK && graft_json_next(at->schema, &iterator, &keyword, &value)) {
        const int is_root_id = strcmp(keyword, "$id") == 0 && at->schema == reader->root;
        /* uniqueItems: false forbids nothing. */
        const int is_none =
            strcmp(keyword, "uniqueItems") == 0 && graft_json_type(value) == GRAFT_JSON_BOOL && !graft_json_bool(value);
        if (!is_root_id && !is_none && !is_known(keyword)) {
            graft_schema_fail(reader, at->pointer, "the keyword %s is not supported", keyword);
        }
    }
}

/* --- References --- */

/* Finds the schema with an `$anchor` in or below `value`. */
static const graft_json *find_anchor(const graft_json *value, const char *name, int depth) {
    const char *anchor = graft_json_string(graft_json_get(value, "$anchor"), NULL);
    const graft_json *found = anchor != NULL && strcmp(anchor, name) == 0 ? value : NULL;
    void *iterator = NULL;
    const char *key = NULL;
    const graft_json *member = NULL;
    while (depth > 0 && found == NULL && graft_json_next(value, &iterator, &key, &member)) {
        if (strcmp(key, "enum") != 0 && strcmp(key, "const") != 0) { /* values, not schemas */
            found = find_anchor(member, name, depth - 1);
        }
    }
    for (size_t i = 0; depth > 0 && found == NULL && i < graft_json_size(value); i++) {
        found =
            graft_json_type(value) == GRAFT_JSON_ARRAY ? find_anchor(graft_json_at(value, i), name, depth - 1) : NULL;
    }
    return found;
}

/* Decodes a segment of a JSON pointer in a URI, in place: %41 is "A", ~0 is "~" and ~1 is "/". */
static void unescape(char *text) {
    char *to = text;
    for (const char *at = text; *at != '\0'; at++) {
        if (at[0] == '%' && graft_hex_digit(at[1]) >= 0 && graft_hex_digit(at[2]) >= 0) {
            *to++ = (char)(graft_hex_digit(at[1]) << 4 | graft_hex_digit(at[2]));
            at += 2;
        } else if (at[0] == '~' && (at[1] == '0' || at[1] == '1')) {
            *to++ = at[1] == '0' ? '~' : '/';
            at++;
        } else {
            *to++ = *at;
        }
    }
    *to = '\0';
}

static const graft_json *follow(const graft_json *value, const char *name) {
    if (graft_json_type(value) != GRAFT_JSON_ARRAY) {
        return graft_json_get(value, name);
    }
    size_t index = 0;
    for (const char *at = name; *at != '\0'; at++) {
        if (*at < '0' || *at > '9' || index > 1000000) {
            return NULL;
        }
        index = index * 10 + (size_t)(*at - '0');
    }
    return name[0] != '\0' ? graft_json_at(value, index) : NULL;
}

static const graft_json *find_pointer(struct graft_schema_reader *reader, const char *pointer) {
    const graft_json *value = reader->root;
    while (*pointer == '/' && value != NULL) {
        const size_t length = strcspn(++pointer, "/");
        char *name = graft_strndup(pointer, length);
        if (name == NULL) {
            graft_schema_fail_memory(reader);
            return NULL;
        }
        unescape(name);
        value = follow(value, name);
        graft_free(name);
        pointer += length;
    }
    return value;
}

struct graft_schema_at graft_schema_refer(struct graft_schema_reader *reader, const struct graft_schema_at *at,
                                          const char *reference) {
    struct graft_schema_at found = {NULL, ""};
    if (reference[0] != '#') {
        graft_schema_fail(reader, at->pointer, "$ref: %s is not in this schema, which is where references may lead",
                          reference);
        return found;
    }
    found.pointer = graft_arena_strdup(&reader->arena, reference + 1);
    if (found.pointer == NULL) {
        graft_schema_fail_memory(reader);
        return found;
    }
    found.schema = reference[1] == '\0' || reference[1] == '/'
                       ? find_pointer(reader, reference + 1)
                       : find_anchor(reader->root, reference + 1, GRAFT_SCHEMA_MOST_DEPTH);
    const enum graft_json_type type = graft_json_type(found.schema);
    if (type != GRAFT_JSON_OBJECT && type != GRAFT_JSON_BOOL) {
        graft_schema_fail(reader, at->pointer, "$ref: there is no schema at %s", reference);
    }
    return found;
}

/* --- Types --- */

static const struct {
    const char *name;
    int types;
} names[] = {{"null", GRAFT_TYPE_NULL},
             {"boolean", GRAFT_TYPE_BOOLEAN},
             {"object", GRAFT_TYPE_OBJECT},
             {"array", GRAFT_TYPE_ARRAY},
             {"string", GRAFT_TYPE_STRING},
             {"integer", GRAFT_TYPE_INTEGER},
             {"number", GRAFT_TYPE_INTEGER | GRAFT_TYPE_FRACTION}};

static int types_of(struct graft_schema_reader *reader, const struct graft_schema_at *at, const graft_json *name) {
    const char *text = graft_json_string(name, NULL);
    for (size_t i = 0; i < sizeof names / sizeof *names && text != NULL; i++) {
        if (strcmp(names[i].name, text) == 0) {
            return names[i].types;
        }
    }
    graft_schema_fail(reader, at->pointer, "type: expected the name of a type of JSON, found %s",
                      text != NULL ? text : graft_json_type_name(name));
    return 0;
}

int graft_schema_types(struct graft_schema_reader *reader, const struct graft_schema_at *at) {
    const graft_json *type = graft_json_get(at->schema, "type");
    int types = 0;
    if (graft_json_type(at->schema) == GRAFT_JSON_BOOL) {
        return graft_json_bool(at->schema) ? GRAFT_TYPE_ALL : 0;
    }
    if (type == NULL) {
        return GRAFT_TYPE_ALL;
    }
    if (graft_json_type(type) != GRAFT_JSON_ARRAY) {
        return types_of(reader, at, type);
    }
    for (size_t i = 0; i < graft_json_size(type); i++) {
        types |= types_of(reader, at, graft_json_at(type, i));
    }
    return types;
}

int graft_schema_type_of(const graft_json *value) {
    const double real = graft_json_real(value);
    switch (graft_json_type(value)) {
    case GRAFT_JSON_NULL:
        return GRAFT_TYPE_NULL;
    case GRAFT_JSON_BOOL:
        return GRAFT_TYPE_BOOLEAN;
    case GRAFT_JSON_INT:
        return GRAFT_TYPE_INTEGER;
    case GRAFT_JSON_REAL:
        return real >= -9e15 && real <= 9e15 && real == (double)(int64_t)real ? GRAFT_TYPE_INTEGER
                                                                              : GRAFT_TYPE_FRACTION;
    case GRAFT_JSON_STRING:
        return GRAFT_TYPE_STRING;
    case GRAFT_JSON_ARRAY:
        return GRAFT_TYPE_ARRAY;
    default:
        return GRAFT_TYPE_OBJECT;
    }
}

/* --- Alternatives that exclude each other --- */

/* Follows the $ref of an alternative that has no type of its own. */
static struct graft_schema_at follow_references(struct graft_schema_reader *reader, struct graft_schema_at at) {
    for (int i = 0; i < GRAFT_SCHEMA_MOST_DEPTH && reader->status == GRAFT_OK; i++) {
        const char *reference = graft_json_string(graft_json_get(at.schema, "$ref"), NULL);
        if (reference == NULL || graft_json_get(at.schema, "type") != NULL) {
            break;
        }
        at = graft_schema_refer(reader, &at, reference);
    }
    return at;
}

int graft_schema_is_in(const graft_json *values, const graft_json *value) {
    for (size_t i = 0; i < graft_json_size(values); i++) {
        if (graft_json_equal(graft_json_at(values, i), value)) {
            return 1;
        }
    }
    return 0;
}

/* Whether a value is in the schema's `enum`, or is its `const`. */
static int lists(const graft_json *schema, const graft_json *value) {
    const graft_json *constant = graft_json_get(schema, "const");
    return graft_schema_is_in(graft_json_get(schema, "enum"), value) ||
           (constant != NULL && graft_json_equal(constant, value));
}

static int has_list(const graft_json *schema) {
    return graft_json_get(schema, "enum") != NULL || graft_json_get(schema, "const") != NULL;
}

/* Whether both schemas list their values, and have none in common. */
static int lists_differ(const graft_json *a, const graft_json *b) {
    const graft_json *values = graft_json_get(a, "enum");
    if (!has_list(a) || !has_list(b)) {
        return 0;
    }
    for (size_t i = 0; i < graft_json_size(values); i++) {
        if (lists(b, graft_json_at(values, i))) {
            return 0;
        }
    }
    return values != NULL || !lists(b, graft_json_get(a, "const"));
}

static int requires(const graft_json *schema, const char *name) {
    const graft_json *required = graft_json_get(schema, "required");
    for (size_t i = 0; i < graft_json_size(required); i++) {
        const char *text = graft_json_string(graft_json_at(required, i), NULL);
        if (text != NULL && strcmp(text, name) == 0) {
            return 1;
        }
    }
    return 0;
}

/* The types that a value of the schema may have, by its `type` and by the values of its enum or const. */
static int possible_types(struct graft_schema_reader *reader, const struct graft_schema_at *at) {
    const graft_json *values = graft_json_get(at->schema, "enum");
    int types = graft_schema_types(reader, at), listed = 0;
    for (size_t i = 0; i < graft_json_size(values); i++) {
        listed |= graft_schema_type_of(graft_json_at(values, i));
    }
    if (graft_json_get(at->schema, "const") != NULL) {
        listed = graft_schema_type_of(graft_json_get(at->schema, "const"));
    }
    return has_list(at->schema) ? types & listed : types;
}

static int are_apart(struct graft_schema_reader *reader, const struct graft_schema_at *a,
                     const struct graft_schema_at *b) {
    const int types = possible_types(reader, a) & possible_types(reader, b);
    if (types == 0 || lists_differ(a->schema, b->schema)) {
        return 1;
    }
    /* Objects can be told apart by a member that both require, with values that differ. */
    void *iterator = NULL;
    const char *name = NULL;
    const graft_json *of_a = NULL;
    const graft_json *properties = graft_json_get(a->schema, "properties");
    while (types == GRAFT_TYPE_OBJECT && graft_json_next(properties, &iterator, &name, &of_a)) {
        const graft_json *of_b = graft_json_get(graft_json_get(b->schema, "properties"), name);
        if (requires(a->schema, name) && requires(b->schema, name) && lists_differ(of_a, of_b)) {
            return 1;
        }
    }
    return 0;
}

void graft_schema_check_apart(struct graft_schema_reader *reader, const struct graft_schema_at *at) {
    enum { MOST = 200 };
    const size_t n = graft_json_size(graft_json_get(at->schema, "oneOf"));
    struct graft_schema_at branches[MOST];
    if (n > MOST) {
        graft_schema_fail(reader, at->pointer, "oneOf: more than %d schemas are not supported", (int)MOST);
    }
    for (size_t i = 0; i < n && reader->status == GRAFT_OK; i++) {
        branches[i] = follow_references(reader, graft_schema_below(reader, at, "oneOf", NULL, (int64_t)i));
        for (size_t j = 0; j < i && reader->status == GRAFT_OK; j++) {
            if (!are_apart(reader, &branches[j], &branches[i])) {
                graft_schema_fail(reader, at->pointer,
                                  "oneOf: a value might fit both number %zu and number %zu, since neither type nor "
                                  "enum or const of a required member tells them apart; with anyOf it may",
                                  j, i);
            }
        }
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Schemas of objects: first the members that the schema names, in its order, then members with other names. */
#include <string.h>

#include "base/alloc.h"
#include "grammar/schema_parts.h"

enum { MOST_PATTERNS = 6 };

/* A pattern of patternProperties. */
struct pattern {
    const char *text;
    struct graft_dfa names;
    int member; /* index in the list of the schema that has it */
    struct graft_schema_at at;
};

/* A member that `properties` or `required` names. */
struct named {
    const char *name;
    int is_required;
};

struct object {
    struct graft_schema_reader *reader;
    const struct graft_schema_list *list;
    struct pattern patterns[MOST_PATTERNS];
    int n_patterns;
    struct named *named; /* [n_named] */
    size_t n_named, capacity;
    struct graft_dfa own;     /* the names of `named` */
    struct graft_dfa allowed; /* the names that propertyNames allows, if has_allowed */
    int has_allowed;
};

static int goes_on(const struct object *object) {
    return object->reader->status == GRAFT_OK;
}

static void find_patterns(struct object *object, size_t member) {
    struct graft_schema_reader *reader = object->reader;
    const struct graft_schema_at *at = &object->list->items[member];
    const graft_json *patterns = graft_schema_keyword(reader, at, "patternProperties", GRAFT_JSON_OBJECT);
    void *iterator = NULL;
    const char *text = NULL;
    const graft_json *value = NULL;
    while (goes_on(object) && graft_json_next(patterns, &iterator, &text, &value)) {
        const char *fault = NULL;
        struct pattern *pattern = &object->patterns[object->n_patterns];
        if (object->n_patterns == MOST_PATTERNS) {
            graft_schema_fail(reader, at->pointer, "patternProperties: more than %d patterns are not supported",
                              (int)MOST_PATTERNS);
            return;
        }
        *pattern = (struct pattern){.text = text, .member = (int)member};
        pattern->at = graft_schema_below(reader, at, "patternProperties", text, -1);
        object->n_patterns++;
        const int status = graft_dfa_pattern(text, strlen(text), &pattern->names, &fault);
        graft_schema_check(reader, status, pattern->at.pointer, "patternProperties", fault);
    }
}

static void find_named(struct object *object, const char *name, int is_required) {
    for (size_t i = 0; i < object->n_named; i++) {
        if (strcmp(object->named[i].name, name) == 0) {
            object->named[i].is_required |= is_required;
            return;
        }
    }
    if (object->n_named >= GRAFT_SCHEMA_MOST_RULES) {
        graft_schema_fail(object->reader, object->list->items[0].pointer, "properties: it is too large");
    } else if (graft_grow(&object->named, &object->capacity, object->n_named, sizeof *object->named) != 0) {
        graft_schema_fail_memory(object->reader);
    } else {
        object->named[object->n_named++] = (struct named){name, is_required};
    }
}

static void find_properties(struct object *object, const struct graft_schema_at *at) {
    struct graft_schema_reader *reader = object->reader;
    const graft_json *properties = graft_schema_keyword(reader, at, "properties", GRAFT_JSON_OBJECT);
    void *iterator = NULL;
    const char *name = NULL;
    const graft_json *value = NULL;
    while (goes_on(object) && graft_json_next(properties, &iterator, &name, &value)) {
        find_named(object, name, 0);
    }
}

static void find_required(struct object *object, const struct graft_schema_at *at) {
    struct graft_schema_reader *reader = object->reader;
    const graft_json *required = graft_schema_keyword(reader, at, "required", GRAFT_JSON_ARRAY);
    for (size_t i = 0; i < graft_json_size(required) && goes_on(object); i++) {
        const char *name = graft_json_string(graft_json_at(required, i), NULL);
        if (name == NULL) {
            graft_schema_fail(reader, at->pointer, "required: expected names of members");
            return;
        }
        find_named(object, name, 1);
    }
}

static void find_own(struct object *object) {
    const char **names = graft_alloc(object->n_named, sizeof *names);
    for (size_t i = 0; i < object->n_named && names != NULL; i++) {
        names[i] = object->named[i].name;
    }
    const int status = names != NULL ? graft_dfa_texts(names, object->n_named, &object->own) : GRAFT_ERROR_INTERNAL;
    if (goes_on(object) && status != GRAFT_OK) {
        graft_schema_check(object->reader, status, object->list->items[0].pointer, "properties", NULL);
    }
    graft_free(names);
}

/* Combines propertyNames of all schemas. */
static void find_allowed(struct object *object) {
    struct graft_schema_reader *reader = object->reader;
    static const char *const strings[] = {"type",  "minLength",   "maxLength", "pattern", "format",
                                          "title", "description", "$comment",  NULL};
    struct graft_schema_list names = {0};
    for (size_t i = 0; i < object->list->n && goes_on(object); i++) {
        const struct graft_schema_at *at = &object->list->items[i];
        if (graft_json_get(at->schema, "propertyNames") == NULL) {
            continue;
        }
        const struct graft_schema_at below = graft_schema_below(reader, at, "propertyNames", NULL, -1);
        const char *other = graft_json_other_key(below.schema, strings);
        if (other != NULL) {
            graft_schema_fail(reader, below.pointer, "the keyword %s is not supported here", other);
        } else if (!(graft_schema_types(reader, &below) & GRAFT_TYPE_STRING)) {
            object->has_allowed = 1; /* no name at all */
        } else {
            graft_schema_append(reader, &names, below);
        }
    }
    if (!object->has_allowed) {
        object->has_allowed = graft_schema_strings(reader, &names, &object->allowed);
    }
    graft_free(names.items);
}

/* --- Members --- */

/* Collects the schemas that the value of a member must fit. `name` is that of a named member, or NULL for all others;
 * bit i of `matched` says whether the name matches patterns[i]. */
static void find_value(struct object *object, const char *name, unsigned matched, struct graft_schema_list *value) {
    struct graft_schema_reader *reader = object->reader;
    for (size_t i = 0; i < object->list->n && goes_on(object); i++) {
        const struct graft_schema_at *at = &object->list->items[i];
        int found = 0;
        if (name != NULL && graft_json_get(graft_json_get(at->schema, "properties"), name) != NULL) {
            graft_schema_append(reader, value, graft_schema_below(reader, at, "properties", name, -1));
            found = 1;
        }
        for (int j = 0; j < object->n_patterns; j++) {
            if (object->patterns[j].member == (int)i && (matched >> j & 1)) {
                graft_schema_append(reader, value, object->patterns[j].at);
                found = 1;
            }
        }
        if (!found && graft_json_get(at->schema, "additionalProperties") != NULL) {
            graft_schema_append(reader, value, graft_schema_below(reader, at, "additionalProperties", NULL, -1));
        }
    }
}

static int is_never(const struct graft_schema_list *list) {
    for (size_t i = 0; i < list->n; i++) {
        if (graft_json_type(list->items[i].schema) == GRAFT_JSON_BOOL && !graft_json_bool(list->items[i].schema)) {
            return 1;
        }
    }
    return 0;
}

/* Makes the rule of a named member, "NAME":VALUE. Returns -1 if no value or name is allowed for it. */
static int32_t named_rule(struct object *object, const char *name) {
    struct graft_schema_reader *reader = object->reader;
    struct graft_schema_list value = {0};
    unsigned matched = 0;
    int32_t rule = -1;
    for (int i = 0; i < object->n_patterns; i++) {
        matched |= (unsigned)graft_dfa_accepts(&object->patterns[i].names, name, strlen(name)) << i;
    }
    find_value(object, name, matched, &value);
    if (goes_on(object) && !is_never(&value) &&
        (!object->has_allowed || graft_dfa_accepts(&object->allowed, name, strlen(name)))) {
        graft_json *text = graft_json_new_string(name);
        char *dumped = text != NULL ? graft_json_dump(text, 0) : NULL;
        rule = graft_rules_add(reader->rules, NULL, 0);
        const int32_t colon = graft_rules_state(reader->rules), after = graft_rules_state(reader->rules);
        if (dumped == NULL) {
            graft_schema_fail_memory(reader);
        } else {
            graft_rules_text(reader->rules, graft_rules_start(reader->rules, rule), colon, dumped, strlen(dumped));
            graft_rules_text(reader->rules, colon, after, ":", 1);
            graft_rules_call(reader->rules, after, graft_rules_end(reader->rules, rule),
                             graft_schema_rule_of(reader, &value));
        }
        graft_free(dumped);
        graft_json_free(text);
    }
    graft_free(value.items);
    return rule;
}

/* Removes from `names` what `other` does not accept or, with `minus`, what it accepts. */
static void narrow(struct object *object, struct graft_dfa *names, const struct graft_dfa *other, int minus,
                   const char *keyword) {
    struct graft_dfa left = {0};
    if (goes_on(object)) {
        graft_schema_check(object->reader, graft_dfa_combine(names, other, minus, &left),
                           object->list->items[0].pointer, keyword, NULL);
        graft_dfa_free(names);
        *names = left;
    }
}

/* Finds the names of other members that match exactly the patterns of `matched`. */
static void find_names(struct object *object, unsigned matched, struct graft_dfa *names) {
    graft_schema_check(object->reader, graft_dfa_lengths(0, -1, names), "", "", NULL);
    if (object->n_named > 0 && goes_on(object)) {
        narrow(object, names, &object->own, 1, "properties");
    }
    for (int i = 0; i < object->n_patterns; i++) {
        narrow(object, names, &object->patterns[i].names, (matched >> i & 1) == 0, "patternProperties");
    }
    if (object->has_allowed) {
        narrow(object, names, &object->allowed, 0, "propertyNames");
    }
}

/* Adds to a rule the members that the schema does not name, "NAME":VALUE. Returns whether any is allowed. */
static int add_others(struct object *object, int32_t rule) {
    struct graft_schema_reader *reader = object->reader;
    struct graft_rules *rules = reader->rules;
    int any = 0;
    for (unsigned matched = 0; matched < 1U << object->n_patterns && goes_on(object); matched++) {
        struct graft_schema_list value = {0};
        struct graft_dfa names = {0};
        find_value(object, NULL, matched, &value);
        if (goes_on(object) && !is_never(&value)) {
            find_names(object, matched, &names);
        }
        if (goes_on(object) && !is_never(&value) && !graft_dfa_is_empty(&names)) {
            const int32_t inside = graft_rules_state(rules), after = graft_rules_state(rules);
            const int32_t colon = graft_rules_state(rules);
            any = 1;
            if (object->n_named == 0 && object->n_patterns == 0 && !object->has_allowed) {
                graft_json_string_rules(rules, graft_rules_start(rules, rule), after);
            } else {
                const int32_t last = graft_rules_state(rules);
                graft_rules_text(rules, graft_rules_start(rules, rule), inside, "\"", 1);
                graft_dfa_add_rules(&names, rules, inside, last);
                graft_rules_text(rules, last, after, "\"", 1);
            }
            graft_rules_text(rules, after, colon, ":", 1);
            graft_rules_call(rules, colon, graft_rules_end(rules, rule), graft_schema_rule_of(reader, &value));
        }
        graft_dfa_free(&names);
        graft_free(value.items);
    }
    return any;
}

/* --- Sequences of members --- */

/* How members are laid out. They are counted for minProperties and maxProperties, and to put a comma in front of all
 * but the first; from `counted` (at least 1) on the number makes no difference, and counting stops. */
struct layout {
    int32_t *places; /* [counted + 1] the state in front of the next member after i members; -1: not reached */
    int32_t *next;   /* [counted + 1] the same after that member */
    int64_t counted;
    int64_t most; /* -1: no limit */
};

static void add_member(struct object *object, struct layout *layout, int32_t rule, int64_t written, int32_t *to) {
    struct graft_rules *rules = object->reader->rules;
    const int64_t count = written < layout->counted ? written + 1 : written;
    int32_t from = layout->places[written];
    if (layout->most >= 0 && written >= layout->most) {
        return;
    }
    if (to[count] < 0) {
        to[count] = graft_rules_state(rules);
    }
    if (written > 0) {
        const int32_t comma = graft_rules_state(rules);
        graft_rules_text(rules, from, comma, ",", 1);
        from = comma;
    }
    graft_rules_call(rules, from, to[count], rule);
}

static void add_named(struct object *object, struct layout *layout, const struct named *named) {
    struct graft_rules *rules = object->reader->rules;
    const int32_t rule = named_rule(object, named->name);
    for (int64_t i = 0; i <= layout->counted; i++) {
        layout->next[i] = -1;
    }
    for (int64_t i = 0; i <= layout->counted && goes_on(object) && rules->failed == 0; i++) {
        if (layout->places[i] < 0) {
            continue;
        }
        if (rule >= 0) {
            add_member(object, layout, rule, i, layout->next);
        }
        if (!named->is_required) {
            if (layout->next[i] < 0) {
                layout->next[i] = graft_rules_state(rules);
            }
            graft_rules_empty(rules, layout->places[i], layout->next[i]);
        }
    }
    int32_t *places = layout->places;
    layout->places = layout->next;
    layout->next = places;
}

static void add_members(struct object *object, struct layout *layout, int64_t least, int32_t to) {
    struct graft_schema_reader *reader = object->reader;
    for (size_t i = 0; i < object->n_named && goes_on(object); i++) {
        add_named(object, layout, &object->named[i]);
    }
    const int32_t others = graft_rules_add(reader->rules, NULL, 0);
    const int any = add_others(object, others);
    for (int64_t i = 0; i <= layout->counted && goes_on(object) && reader->rules->failed == 0; i++) {
        if (layout->places[i] < 0) {
            continue;
        }
        if (any) {
            add_member(object, layout, others, i, layout->places);
        }
        if (i >= least) {
            graft_rules_text(reader->rules, layout->places[i], to, "}", 1);
        }
    }
}

static void add_object(struct object *object, int32_t from, int32_t to) {
    struct graft_schema_reader *reader = object->reader;
    const int64_t least = graft_schema_counts(reader, object->list, "minProperties", 0);
    struct layout layout = {.most = graft_schema_counts(reader, object->list, "maxProperties", 1)};
    const size_t n = object->n_named;
    layout.counted = layout.most > least ? layout.most : least > 1 ? least : 1;
    if ((layout.counted + 1) * (int64_t)(n + 1) > GRAFT_RULES_MOST_EDGES) {
        graft_schema_fail(reader, object->list->items[0].pointer, "minProperties, maxProperties: it is too large");
        return;
    }
    layout.places = graft_alloc((size_t)layout.counted + 1, sizeof *layout.places);
    layout.next = graft_alloc((size_t)layout.counted + 1, sizeof *layout.next);
    if (layout.places == NULL || layout.next == NULL) {
        graft_schema_fail_memory(reader);
    } else {
        for (int64_t i = 0; i <= layout.counted; i++) {
            layout.places[i] = -1;
        }
        layout.places[0] = graft_rules_state(reader->rules);
        graft_rules_text(reader->rules, from, layout.places[0], "{", 1);
        add_members(object, &layout, least, to);
    }
    graft_free(layout.places);
    graft_free(layout.next);
}

void graft_schema_add_object(struct graft_schema_reader *reader, const struct graft_schema_list *list, int32_t from,
                             int32_t to) {
    struct object object = {.reader = reader, .list = list};
    for (size_t i = 0; i < list->n && goes_on(&object); i++) {
        find_patterns(&object, i);
        find_properties(&object, &list->items[i]);
    }
    for (size_t i = 0; i < list->n && goes_on(&object); i++) {
        find_required(&object, &list->items[i]);
    }
    find_own(&object);
    find_allowed(&object);
    if (goes_on(&object)) {
        add_object(&object, from, to);
    }
    for (int i = 0; i < object.n_patterns; i++) {
        graft_dfa_free(&object.patterns[i].names);
    }
    graft_dfa_free(&object.allowed);
    graft_dfa_free(&object.own);
    graft_free(object.named);
}

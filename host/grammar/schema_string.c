/* SPDX-License-Identifier: Apache-2.0 */
/* Schemas of strings and numbers. */
#include <string.h>

#include "grammar/schema_parts.h"

#define HH_MM "([01][0-9]|2[0-3]):[0-5][0-9]"
#define LEAP_CENTURY "([02468][048]|[13579][26])00"
#define LEAP_IN_CENTURY "[0-9]{2}(0[48]|[2468][048]|[13579][26])"
#define DATE                                                                                                          \
    "([0-9]{4}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]" \
    "))|(" LEAP_IN_CENTURY "|" LEAP_CENTURY ")-02-29)"
#define TIME HH_MM ":[0-5][0-9](\\.[0-9]+)?([zZ]|[+-]" HH_MM ")"
#define OCTET "(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"

/* The regular expression for a `format`; NULL if that is not supported. */
static const char *find_format(const char *name) {
    static const struct {
        const char *name;
        const char *pattern;
    } formats[] = {
        {"date", "^" DATE "$"},
        {"time", "^" TIME "$"},
        {"date-time", "^" DATE "[tT]" TIME "$"},
        {"uuid", "^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$"},
        {"ipv4", "^" OCTET "(\\." OCTET "){3}$"},
    };
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (strcmp(formats[i].name, name) == 0) {
            return formats[i].pattern;
        }
    }
    return NULL;
}

/* Restricts `all` to what `other` accepts too, and frees `other`. While *is_narrow is 0, `all` stands for all strings.
 */
static void narrow(struct graft_schema_reader *reader, struct graft_dfa *all, struct graft_dfa *other, int *is_narrow,
                   const char *pointer, const char *keyword) {
    struct graft_dfa both = {0};
    if (reader->status == GRAFT_OK && !*is_narrow) {
        *all = *other;
        *is_narrow = 1;
        return;
    }
    if (reader->status == GRAFT_OK) {
        graft_schema_check(reader, graft_dfa_combine(all, other, 0, &both), pointer, keyword, NULL);
        graft_dfa_free(all);
        *all = both;
    }
    graft_dfa_free(other);
}

static void narrow_by_pattern(struct graft_schema_reader *reader, const char *pattern, size_t length,
                              struct graft_dfa *all, int *is_narrow, const char *pointer, const char *keyword) {
    struct graft_dfa other = {0};
    const char *fault = NULL;
    const int status = graft_dfa_pattern(pattern, length, &other, &fault);
    graft_schema_check(reader, status, pointer, keyword, fault);
    narrow(reader, all, &other, is_narrow, pointer, keyword);
}

static void narrow_by_schema(struct graft_schema_reader *reader, const struct graft_schema_at *at,
                             struct graft_dfa *all, int *is_narrow) {
    size_t length = 0;
    const char *text = graft_json_string(graft_schema_keyword(reader, at, "pattern", GRAFT_JSON_STRING), &length);
    const char *name = graft_json_string(graft_schema_keyword(reader, at, "format", GRAFT_JSON_STRING), NULL);
    if (text != NULL) {
        narrow_by_pattern(reader, text, length, all, is_narrow, at->pointer, "pattern");
    }
    const char *format = name != NULL ? find_format(name) : NULL;
    if (name != NULL && format == NULL) {
        graft_schema_fail(reader, at->pointer, "format: %s is not supported", name);
    } else if (format != NULL) {
        narrow_by_pattern(reader, format, strlen(format), all, is_narrow, at->pointer, "format");
    }
}

/* Restricts `all` by pattern and format of each schema. Returns 0 if there are none. Lengths are not considered. */
static int narrow_all(struct graft_schema_reader *reader, const struct graft_schema_list *list, struct graft_dfa *all) {
    int is_narrow = 0;
    *all = (struct graft_dfa){0};
    for (size_t i = 0; i < list->n && reader->status == GRAFT_OK; i++) {
        narrow_by_schema(reader, &list->items[i], all, &is_narrow);
    }
    return is_narrow;
}

static void narrow_by_lengths(struct graft_schema_reader *reader, const struct graft_schema_list *list, int64_t least,
                              int64_t most, struct graft_dfa *all, int *is_narrow) {
    const char *pointer = list->n > 0 ? list->items[0].pointer : "";
    struct graft_dfa other = {0};
    if (reader->status != GRAFT_OK || (least <= 0 && most < 0)) {
        return;
    }
    const int status = most >= 0 && most < least
                           ? GRAFT_OK /* no length is possible, and an empty automaton accepts nothing */
                           : graft_dfa_lengths(least < 0 ? 0 : least, most, &other);
    graft_schema_check(reader, status, pointer, "minLength, maxLength", NULL);
    narrow(reader, all, &other, is_narrow, pointer, "minLength, maxLength");
}

int graft_schema_strings(struct graft_schema_reader *reader, const struct graft_schema_list *list,
                         struct graft_dfa *made) {
    int is_narrow = narrow_all(reader, list, made);
    narrow_by_lengths(reader, list, graft_schema_counts(reader, list, "minLength", 0),
                      graft_schema_counts(reader, list, "maxLength", 1), made, &is_narrow);
    return is_narrow;
}

/* A rule of the reader, made when it is first needed. */
static int32_t shared(struct graft_schema_reader *reader, int32_t *rule,
                      void (*add)(struct graft_rules *rules, int32_t from, int32_t to)) {
    if (*rule == 0) {
        *rule = graft_rules_add(reader->rules, NULL, 0);
        add(reader->rules, graft_rules_start(reader->rules, *rule), graft_rules_end(reader->rules, *rule));
    }
    return *rule;
}

void graft_schema_add_string(struct graft_schema_reader *reader, const struct graft_schema_list *list, int32_t from,
                             int32_t to) {
    struct graft_rules *rules = reader->rules;
    const int64_t least = graft_schema_counts(reader, list, "minLength", 0);
    const int64_t most = graft_schema_counts(reader, list, "maxLength", 1);
    struct graft_dfa strings = {0};
    int is_narrow = narrow_all(reader, list, &strings);
    if (is_narrow) {
        narrow_by_lengths(reader, list, least, most, &strings, &is_narrow);
    }
    const int32_t inside = graft_rules_state(rules), after = graft_rules_state(rules);
    if (reader->status != GRAFT_OK) {
        graft_dfa_free(&strings);
        return;
    }
    if (!is_narrow && least <= 0 && most < 0) {
        graft_rules_call(rules, from, to, shared(reader, &reader->string, graft_json_string_rules));
        return;
    }
    graft_rules_text(rules, from, inside, "\"", 1);
    if (is_narrow) {
        graft_dfa_add_rules(&strings, rules, inside, after);
    } else if (most < 0 || least <= most) {
        graft_rules_repeat(rules, inside, after, shared(reader, &reader->character, graft_json_character_rules),
                           least < 0 ? 0 : least, most);
    }
    graft_rules_text(rules, after, to, "\"", 1);
    graft_dfa_free(&strings);
}

/* --- Numbers --- */

/* Keeps the tighter of two bounds; of equal ones, the one that excludes its value. */
static void take_bound(const graft_json *given, int excludes, int is_least, const graft_json **bound, int *excluded) {
    const double difference = graft_json_real(given) - graft_json_real(*bound);
    if (given == NULL) {
        return;
    }
    if (*bound == NULL || (is_least ? difference > 0 : difference < 0)) {
        *bound = given;
        *excluded = excludes;
    } else if (difference == 0) {
        *excluded |= excludes;
    }
}

static void check_divisor(struct graft_schema_reader *reader, const struct graft_schema_at *at,
                          const graft_json *divisor, const graft_json **found) {
    if (divisor == NULL) {
        return;
    }
    if (!(graft_json_real(divisor) > 0)) {
        graft_schema_fail(reader, at->pointer, "multipleOf: expected a number greater than 0");
    } else if (*found != NULL && !graft_json_equal(*found, divisor)) {
        graft_schema_fail(reader, at->pointer, "multipleOf: two that differ are not supported");
    }
    *found = divisor;
}

void graft_schema_add_number(struct graft_schema_reader *reader, const struct graft_schema_list *list, int is_integer,
                             int32_t from, int32_t to) {
    struct graft_number_bounds bounds = {.is_integer = is_integer};
    const char *fault = NULL;
    for (size_t i = 0; i < list->n && reader->status == GRAFT_OK; i++) {
        const struct graft_schema_at *at = &list->items[i];
        take_bound(graft_schema_keyword(reader, at, "minimum", GRAFT_JSON_REAL), 0, 1, &bounds.least,
                   &bounds.excludes_least);
        take_bound(graft_schema_keyword(reader, at, "exclusiveMinimum", GRAFT_JSON_REAL), 1, 1, &bounds.least,
                   &bounds.excludes_least);
        take_bound(graft_schema_keyword(reader, at, "maximum", GRAFT_JSON_REAL), 0, 0, &bounds.most,
                   &bounds.excludes_most);
        take_bound(graft_schema_keyword(reader, at, "exclusiveMaximum", GRAFT_JSON_REAL), 1, 0, &bounds.most,
                   &bounds.excludes_most);
        check_divisor(reader, at, graft_schema_keyword(reader, at, "multipleOf", GRAFT_JSON_REAL), &bounds.divisor);
    }
    if (reader->status != GRAFT_OK) {
        return;
    }
    if (bounds.least == NULL && bounds.most == NULL && bounds.divisor == NULL) {
        graft_rules_call(reader->rules, from, to,
                         is_integer ? shared(reader, &reader->integer, graft_json_integer_rules)
                                    : shared(reader, &reader->number, graft_json_number_rules));
        return;
    }
    const int status = graft_json_bounded_rules(reader->rules, from, to, &bounds, &fault);
    graft_schema_check(reader, status, list->items[0].pointer, "minimum, maximum, multipleOf", fault);
}

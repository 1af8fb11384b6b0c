/* SPDX-License-Identifier: Apache-2.0 */
/* Methods of strings that return strings or positions. */
#include <string.h>

#include "base/utf8.h"
#include "jinja/methods.h"

#define SELF (&call->self->as.string)

static int strip_side(struct graft_jinja_run *run, const struct graft_jinja_call *call, enum graft_jinja_side side,
                      struct graft_jinja_value *result) {
    struct graft_jinja_string set = {0};
    const int has_set = call->given[0] != NULL && call->given[0]->kind != GRAFT_JINJA_NONE;
    int status = has_set ? graft_jinja_want_text(run, call->given[0], "strip's argument", &set) : GRAFT_OK;
    if (status == GRAFT_OK) {
        *result = graft_jinja_text(graft_jinja_strip(SELF, has_set ? &set : NULL, side));
        status = graft_jinja_spend(run, SELF->length - result->as.string.length);
    }
    return status;
}

static int strip(struct graft_jinja_run *run, const struct graft_jinja_call *call, struct graft_jinja_value *result) {
    return strip_side(run, call, GRAFT_JINJA_BOTH, result);
}

static int lstrip(struct graft_jinja_run *run, const struct graft_jinja_call *call, struct graft_jinja_value *result) {
    return strip_side(run, call, GRAFT_JINJA_LEFT, result);
}

static int rstrip(struct graft_jinja_run *run, const struct graft_jinja_call *call, struct graft_jinja_value *result) {
    return strip_side(run, call, GRAFT_JINJA_RIGHT, result);
}

static int upper(struct graft_jinja_run *run, const struct graft_jinja_call *call, struct graft_jinja_value *result) {
    return graft_jinja_change_case(run, SELF, GRAFT_JINJA_UPPER, result);
}

static int lower(struct graft_jinja_run *run, const struct graft_jinja_call *call, struct graft_jinja_value *result) {
    return graft_jinja_change_case(run, SELF, GRAFT_JINJA_LOWER, result);
}

static int title(struct graft_jinja_run *run, const struct graft_jinja_call *call, struct graft_jinja_value *result) {
    return graft_jinja_change_case(run, SELF, GRAFT_JINJA_TITLE, result);
}

static int capitalize(struct graft_jinja_run *run, const struct graft_jinja_call *call,
                      struct graft_jinja_value *result) {
    return graft_jinja_change_case(run, SELF, GRAFT_JINJA_CAPITALIZE, result);
}

static int swapcase(struct graft_jinja_run *run, const struct graft_jinja_call *call,
                    struct graft_jinja_value *result) {
    return graft_jinja_change_case(run, SELF, GRAFT_JINJA_SWAP, result);
}

static int replace(struct graft_jinja_run *run, const struct graft_jinja_call *call, struct graft_jinja_value *result) {
    struct graft_jinja_string old = {0}, new = {0};
    int64_t count = -1;
    int status = graft_jinja_want_text(run, call->given[0], "replace's first argument", &old);
    if (status == GRAFT_OK) {
        status = graft_jinja_want_text(run, call->given[1], "replace's second argument", &new);
    }
    if (status == GRAFT_OK) {
        status = graft_jinja_want_int(run, call->given[2], "replace's count", &count);
    }
    return status == GRAFT_OK ? graft_jinja_replace(run, SELF, &old, &new, count, result) : status;
}

static int starts_with(const struct graft_jinja_string *string, const struct graft_jinja_string *part) {
    return part->length <= string->length &&
           (part->length == 0 || memcmp(string->bytes, part->bytes, part->length) == 0);
}

static int ends_with(const struct graft_jinja_string *string, const struct graft_jinja_string *part) {
    return part->length <= string->length &&
           (part->length == 0 || memcmp(string->bytes + string->length - part->length, part->bytes, part->length) == 0);
}

static int removeprefix(struct graft_jinja_run *run, const struct graft_jinja_call *call,
                        struct graft_jinja_value *result) {
    struct graft_jinja_string part = {0};
    int status = graft_jinja_want_text(run, call->given[0], "removeprefix's argument", &part);
    size_t begin = status == GRAFT_OK && starts_with(SELF, &part) ? part.length : 0;
    *result = graft_jinja_text(graft_jinja_part(SELF, begin, SELF->length));
    return status;
}

static int removesuffix(struct graft_jinja_run *run, const struct graft_jinja_call *call,
                        struct graft_jinja_value *result) {
    struct graft_jinja_string part = {0};
    int status = graft_jinja_want_text(run, call->given[0], "removesuffix's argument", &part);
    size_t end = SELF->length - (status == GRAFT_OK && ends_with(SELF, &part) ? part.length : 0);
    *result = graft_jinja_text(graft_jinja_part(SELF, 0, end));
    return status;
}

/* The range [start, end), in characters, that startswith, find and count are limited to. */
static int take_range(struct graft_jinja_run *run, const struct graft_jinja_call *call, struct graft_jinja_string *part,
                      size_t *start) {
    const struct graft_jinja_value *bounds[3] = {call->given[1], call->given[2], NULL};
    struct graft_jinja_value sliced;
    int status = graft_jinja_slice(run, call->self, bounds, &sliced);
    if (status == GRAFT_OK) {
        *part = sliced.as.string;
        *start = graft_utf8_count(SELF->bytes, (size_t)(part->bytes - SELF->bytes));
    }
    return status;
}

/* Calls `test` for the argument if it is a string, or for each string of a tuple. */
static int test_ends(struct graft_jinja_run *run, const struct graft_jinja_call *call,
                     int (*test)(const struct graft_jinja_string *string, const struct graft_jinja_string *part),
                     struct graft_jinja_value *result) {
    struct graft_jinja_string string, part = {0};
    const struct graft_jinja_value *given = call->given[0];
    const int is_tuple = graft_jinja_is_list_of(given, GRAFT_JINJA_TUPLE);
    const struct graft_jinja_value *parts = is_tuple ? given->as.list->items : given;
    size_t n = is_tuple ? given->as.list->n : 1, start;
    int holds = 0;
    int status = take_range(run, call, &string, &start);
    for (size_t i = 0; i < n && status == GRAFT_OK && !holds; i++) {
        status = graft_jinja_want_text(run, &parts[i], "startswith's or endswith's argument", &part);
        holds = status == GRAFT_OK && test(&string, &part);
    }
    *result = graft_jinja_bool(holds);
    return status;
}

static int startswith(struct graft_jinja_run *run, const struct graft_jinja_call *call,
                      struct graft_jinja_value *result) {
    return test_ends(run, call, starts_with, result);
}

static int endswith(struct graft_jinja_run *run, const struct graft_jinja_call *call,
                    struct graft_jinja_value *result) {
    return test_ends(run, call, ends_with, result);
}

/* Finds the first or last position, in characters of the whole string; -1: none. */
static int find_place(struct graft_jinja_run *run, const struct graft_jinja_call *call, int last, int64_t *place) {
    struct graft_jinja_string string, part = {0};
    size_t start = 0;
    int status = graft_jinja_want_text(run, call->given[0], "the argument of find or index", &part);
    if (status == GRAFT_OK) {
        status = take_range(run, call, &string, &start);
    }
    *place = -1;
    for (size_t at = 0; status == GRAFT_OK;) {
        at = graft_jinja_find_part(&string, &part, at);
        if (at > string.length) {
            break;
        }
        *place = (int64_t)(start + graft_utf8_count(string.bytes, at));
        if (!last) {
            break;
        }
        status = graft_jinja_spend(run, at + part.length);
        at++;
    }
    return status == GRAFT_OK ? graft_jinja_spend(run, string.length) : status;
}

static int answer_place(struct graft_jinja_run *run, const struct graft_jinja_call *call, int last, int must,
                        struct graft_jinja_value *result) {
    int64_t place = -1;
    int status = find_place(run, call, last, &place);
    *result = graft_jinja_int(place);
    return status == GRAFT_OK && must && place < 0 ? graft_jinja_fail(run, "substring not found") : status;
}

static int find(struct graft_jinja_run *run, const struct graft_jinja_call *call, struct graft_jinja_value *result) {
    return answer_place(run, call, 0, 0, result);
}

static int rfind(struct graft_jinja_run *run, const struct graft_jinja_call *call, struct graft_jinja_value *result) {
    return answer_place(run, call, 1, 0, result);
}

static int index_of(struct graft_jinja_run *run, const struct graft_jinja_call *call,
                    struct graft_jinja_value *result) {
    return answer_place(run, call, 0, 1, result);
}

static int rindex_of(struct graft_jinja_run *run, const struct graft_jinja_call *call,
                     struct graft_jinja_value *result) {
    return answer_place(run, call, 1, 1, result);
}

static int count(struct graft_jinja_run *run, const struct graft_jinja_call *call, struct graft_jinja_value *result) {
    struct graft_jinja_string string, part = {0};
    size_t start, n = 0;
    int status = graft_jinja_want_text(run, call->given[0], "count's argument", &part);
    if (status == GRAFT_OK) {
        status = take_range(run, call, &string, &start);
    }
    if (status == GRAFT_OK && part.length == 0) {
        n = graft_utf8_count(string.bytes, string.length) + 1;
    }
    for (size_t at = 0; status == GRAFT_OK && part.length > 0; n++) {
        at = graft_jinja_find_part(&string, &part, at);
        if (at > string.length) {
            break;
        }
        at += part.length;
    }
    *result = graft_jinja_int((int64_t)n);
    return status == GRAFT_OK ? graft_jinja_spend(run, SELF->length) : status;
}

static const struct graft_jinja_built_in entries[] = {
    {"strip", strip, "chars", 0},
    {"lstrip", lstrip, "chars", 0},
    {"rstrip", rstrip, "chars", 0},
    {"upper", upper, "", 0},
    {"lower", lower, "", 0},
    {"title", title, "", 0},
    {"capitalize", capitalize, "", 0},
    {"swapcase", swapcase, "", 0},
    {"replace", replace, "old new count", 2},
    {"removeprefix", removeprefix, "prefix", 1},
    {"removesuffix", removesuffix, "suffix", 1},
    {"startswith", startswith, "prefix start end", 1},
    {"endswith", endswith, "suffix start end", 1},
    {"find", find, "sub start end", 1},
    {"rfind", rfind, "sub start end", 1},
    {"index", index_of, "sub start end", 1},
    {"rindex", rindex_of, "sub start end", 1},
    {"count", count, "sub start end", 1},
};

const struct graft_jinja_table graft_jinja_string_methods = GRAFT_JINJA_TABLE(entries);

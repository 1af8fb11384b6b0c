/* SPDX-License-Identifier: Apache-2.0 */
/* Finds filters by name, and implements those for strings. */
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "jinja/methods.h"
#include "jinja/unicode.h"

static const struct graft_jinja_table *const tables[] = {
    &graft_jinja_text_filters,   &graft_jinja_number_filters, &graft_jinja_list_filters,
    &graft_jinja_choice_filters, &graft_jinja_order_filters,
};

const struct graft_jinja_built_in *graft_jinja_find_filter(const struct graft_jinja_string *name) {
    const struct graft_jinja_built_in *found = NULL;
    for (size_t i = 0; i < sizeof tables / sizeof tables[0] && found == NULL; i++) {
        found = graft_jinja_find_in(tables[i]->entries, tables[i]->n, name);
    }
    return found;
}

int graft_jinja_apply_filter(struct graft_jinja_run *run, const struct graft_jinja_string *name,
                             const struct graft_jinja_value *input, const struct graft_jinja_arguments *arguments,
                             struct graft_jinja_value *result) {
    const struct graft_jinja_built_in *filter = graft_jinja_find_filter(name);
    if (filter == NULL) {
        return graft_jinja_fail(run, "No filter named '%.*s'.", name->length < 60 ? (int)name->length : 60,
                                name->bytes);
    }
    return graft_jinja_call_built_in(run, filter, input, arguments, result);
}

/* Converts the value to a string and changes its case. */
static int change(struct graft_jinja_run *run, const struct graft_jinja_call *call, enum graft_jinja_case to,
                  struct graft_jinja_value *result) {
    struct graft_jinja_value text;
    int status = graft_jinja_to_text(run, call->self, &text);
    return status == GRAFT_OK ? graft_jinja_change_case(run, &text.as.string, to, result) : status;
}

static int upper(struct graft_jinja_run *run, const struct graft_jinja_call *call, struct graft_jinja_value *result) {
    return change(run, call, GRAFT_JINJA_UPPER, result);
}

static int lower(struct graft_jinja_run *run, const struct graft_jinja_call *call, struct graft_jinja_value *result) {
    return change(run, call, GRAFT_JINJA_LOWER, result);
}

static int capitalize(struct graft_jinja_run *run, const struct graft_jinja_call *call,
                      struct graft_jinja_value *result) {
    return change(run, call, GRAFT_JINJA_CAPITALIZE, result);
}

/* Unlike in str.title, words begin after white space, "-" and opening brackets. */
static int title(struct graft_jinja_run *run, const struct graft_jinja_call *call, struct graft_jinja_value *result) {
    struct graft_jinja_value text, word;
    struct graft_jinja_builder out = {0};
    int status = graft_jinja_to_text(run, call->self, &text);
    const struct graft_jinja_string *string = &text.as.string;
    for (size_t begin = 0, at = 0; status == GRAFT_OK && begin < string->length;) {
        uint32_t code = 0;
        size_t step = at < string->length ? graft_utf8_read(string->bytes + at, &code) : 1;
        if (at == string->length || graft_jinja_is_space(code) || (code < 0x80 && strchr("-({[<", (int)code))) {
            size_t end = at < string->length ? at + step : at;
            const struct graft_jinja_string part = graft_jinja_part(string, begin, end);
            status = graft_jinja_change_case(run, &part, GRAFT_JINJA_CAPITALIZE, &word);
            if (status == GRAFT_OK) {
                status = graft_jinja_add(run, &out, &word.as.string);
            }
            begin = end;
        }
        at += step;
    }
    return graft_jinja_finish_text(run, &out, status, result);
}

static int trim(struct graft_jinja_run *run, const struct graft_jinja_call *call, struct graft_jinja_value *result) {
    struct graft_jinja_value text;
    struct graft_jinja_string set = {0};
    const int has_set = call->given[0] != NULL && call->given[0]->kind != GRAFT_JINJA_NONE;
    int status = graft_jinja_to_text(run, call->self, &text);
    if (status == GRAFT_OK && has_set) {
        status = graft_jinja_want_text(run, call->given[0], "trim's argument", &set);
    }
    if (status == GRAFT_OK) {
        *result = graft_jinja_text(graft_jinja_strip(&text.as.string, has_set ? &set : NULL, GRAFT_JINJA_BOTH));
    }
    return status;
}

static int string(struct graft_jinja_run *run, const struct graft_jinja_call *call, struct graft_jinja_value *result) {
    return graft_jinja_to_text(run, call->self, result);
}

static int safe(struct graft_jinja_run *run, const struct graft_jinja_call *call, struct graft_jinja_value *result) {
    int status = graft_jinja_to_text(run, call->self, result);
    result->safe = 1;
    return status;
}

static int replace(struct graft_jinja_run *run, const struct graft_jinja_call *call, struct graft_jinja_value *result) {
    struct graft_jinja_value text, old, new;
    int64_t count = -1;
    int status = graft_jinja_to_text(run, call->self, &text);
    if (status == GRAFT_OK) {
        status = graft_jinja_to_text(run, call->given[0], &old);
    }
    if (status == GRAFT_OK) {
        status = graft_jinja_to_text(run, call->given[1], &new);
    }
    if (status == GRAFT_OK && call->given[2] != NULL && call->given[2]->kind != GRAFT_JINJA_NONE) {
        status = graft_jinja_want_int(run, call->given[2], "replace's count", &count);
    }
    return status == GRAFT_OK ? graft_jinja_replace(run, &text.as.string, &old.as.string, &new.as.string, count, result)
                              : status;
}

static int escape(struct graft_jinja_run *run, const struct graft_jinja_call *call, struct graft_jinja_value *result) {
    int status = graft_jinja_to_text(run, call->self, result);
    return status == GRAFT_OK ? graft_jinja_escape(run, result) : status;
}

/* The lines of a text. A line break at the end is followed by an empty line. */
static int lines_of(struct graft_jinja_run *run, const struct graft_jinja_string *text,
                    const struct graft_jinja_value **lines, size_t *n) {
    const struct graft_jinja_string name = graft_jinja_literal("splitlines"), end = graft_jinja_literal("\n");
    const struct graft_jinja_arguments none = {0};
    struct graft_jinja_value whole, method;
    struct graft_jinja_builder longer = {0};
    int status = graft_jinja_add(run, &longer, text);
    if (status == GRAFT_OK) {
        status = graft_jinja_add(run, &longer, &end);
    }
    status = graft_jinja_finish_text(run, &longer, status, &whole);
    if (status == GRAFT_OK && !graft_jinja_find_method(run, &whole, &name, &method)) {
        status = graft_jinja_fail_memory(run);
    }
    status = status == GRAFT_OK ? graft_jinja_call_value(run, &method, &none, &whole) : status;
    return status == GRAFT_OK ? graft_jinja_walk(run, &whole, lines, n) : status;
}

static int read_margin(struct graft_jinja_run *run, const struct graft_jinja_value *given,
                       struct graft_jinja_string *margin) {
    static const char spaces[] = "                                                                ";
    int64_t width = 4;
    if (given != NULL && given->kind == GRAFT_JINJA_STRING) {
        *margin = given->as.string;
        return GRAFT_OK;
    }
    int status = graft_jinja_want_int(run, given, "indent's width", &width);
    if (status == GRAFT_OK && width > (int64_t)sizeof spaces - 1) {
        status = graft_jinja_fail(run, "indent's width is more than %zu", sizeof spaces - 1);
    }
    *margin = (struct graft_jinja_string){spaces, NULL, width > 0 ? (size_t)width : 0};
    return status;
}

/* width=4, first=false, blank=false: indents every line but the first; empty lines are left alone. */
static int indent(struct graft_jinja_run *run, const struct graft_jinja_call *call, struct graft_jinja_value *result) {
    const struct graft_jinja_value *lines = NULL;
    struct graft_jinja_string margin = {0}, text = {0};
    struct graft_jinja_builder out = {0};
    size_t n = 0;
    const int first = call->given[1] != NULL && graft_jinja_truth(call->given[1]);
    const int blank = call->given[2] != NULL && graft_jinja_truth(call->given[2]);
    int status = graft_jinja_want_text(run, call->self, "what is indented", &text);
    if (status == GRAFT_OK) {
        status = read_margin(run, call->given[0], &margin);
    }
    status = status == GRAFT_OK ? lines_of(run, &text, &lines, &n) : status;
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        status = graft_jinja_add_literal(run, &out, i > 0 ? "\n" : "");
        if (status == GRAFT_OK && (i > 0 ? blank || lines[i].as.string.length > 0 : first)) {
            status = graft_jinja_add(run, &out, &margin);
        }
        status = status == GRAFT_OK ? graft_jinja_add(run, &out, &lines[i].as.string) : status;
    }
    return graft_jinja_finish_text(run, &out, status, result);
}

/* "%s and %d" | format(a, b). */
static int format(struct graft_jinja_run *run, const struct graft_jinja_call *call, struct graft_jinja_value *result) {
    struct graft_jinja_value text;
    struct graft_jinja_builder out = {0};
    size_t n = 0;
    int status = graft_jinja_to_text(run, call->self, &text);
    for (size_t at = 0; status == GRAFT_OK && at < text.as.string.length; at++) {
        const struct graft_jinja_string one = graft_jinja_part(&text.as.string, at, at + 1);
        const char kind = one.bytes[0] == '%' && at + 1 < text.as.string.length ? one.bytes[1] : (char)0;
        if (one.bytes[0] != '%') {
            status = graft_jinja_add(run, &out, &one);
            continue;
        }
        at++;
        if (kind == '%') {
            status = graft_jinja_add(run, &out, &one);
        } else if ((kind != 's' && kind != 'd') || n >= call->arguments->n) {
            status = graft_jinja_fail(run, kind == 's' || kind == 'd' ? "not enough arguments for format string"
                                                                      : "format knows %%s and %%d only");
        } else {
            status = graft_jinja_add_text(run, &out, &call->arguments->values[n++]);
        }
    }
    return graft_jinja_finish_text(run, &out, status, result);
}

static int wordcount(struct graft_jinja_run *run, const struct graft_jinja_call *call,
                     struct graft_jinja_value *result) {
    int64_t n = 0;
    int inside = 0;
    int status = graft_jinja_to_text(run, call->self, result);
    for (size_t at = 0; status == GRAFT_OK && at < result->as.string.length;) {
        uint32_t code;
        at += graft_utf8_read(result->as.string.bytes + at, &code);
        int is_word = graft_jinja_is_alpha(code) || graft_jinja_is_numeric(code) || code == '_';
        n += is_word && !inside;
        inside = is_word;
    }
    *result = graft_jinja_int(n);
    return status;
}

static const struct graft_jinja_built_in entries[] = {
    {"upper", upper, "", 0},
    {"lower", lower, "", 0},
    {"capitalize", capitalize, "", 0},
    {"title", title, "", 0},
    {"trim", trim, "chars", 0},
    {"string", string, "", 0},
    {"safe", safe, "", 0},
    {"replace", replace, "old new count", 2},
    {"escape", escape, "", 0},
    {"e", escape, "", 0},
    {"indent", indent, "width first blank", 0},
    {"format", format, NULL, 0},
    {"wordcount", wordcount, "", 0},
    {"tojson", graft_jinja_to_json, "ensure_ascii indent separators sort_keys", 0},
};

const struct graft_jinja_table graft_jinja_text_filters = GRAFT_JINJA_TABLE(entries);

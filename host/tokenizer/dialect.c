/* SPDX-License-Identifier: Apache-2.0 */
#include "tokenizer/dialect.h"

#include <string.h>

#include "base/fail.h"

/* Members of a class, without its brackets. The superscripts and fractions of Latin-1 are in it, others are not. */
#define WORD "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\x{B2}\\x{B3}\\x{B9}\\x{BC}-\\x{BE}"

struct rewrite {
    const char *from;
    size_t length;
    size_t at;
    int in_class;
    struct graft_text *out;
    const char *refused; /* why the expression cannot be taken; NULL as long as it can */
};

/* Whether the rest of the expression starts with `prefix`. */
static int ahead(const struct rewrite *r, const char *prefix) {
    size_t n = strlen(prefix);
    return r->length - r->at >= n && memcmp(r->from + r->at, prefix, n) == 0;
}

static void replace(struct rewrite *r, size_t taken, const char *by) {
    graft_text_add_string(r->out, by);
    r->at += taken;
}

static void copy(struct rewrite *r, size_t n) {
    n = n < r->length - r->at ? n : r->length - r->at;
    graft_text_add(r->out, r->from + r->at, n);
    r->at += n;
}

/* Properties that are not scripts although their names have three letters or more. */
static int is_plain_property(const char *name, size_t length) {
    static const char *const plain[] = {"Any",       "Alphabetic", "White_Space",          "Uppercase",
                                        "Lowercase", "Emoji",      "Extended_Pictographic"};
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) {
        if (strlen(plain[i]) == length && memcmp(plain[i], name, length) == 0) {
            return 1;
        }
    }
    return 0;
}

/* \p{…} or \P{…} */
static void rewrite_property(struct rewrite *r) {
    const char *name = r->from + r->at + 3;
    const char *end;
    if (r->length - r->at < 4 || r->from[r->at + 2] != '{') {
        r->refused = "a property without braces";
        return;
    }
    end = memchr(name, '}', r->length - r->at - 3);
    if (end == NULL) {
        r->refused = "a property without an end";
        return;
    }
    copy(r, 3);
    if (r->from[r->at] == '^') {
        copy(r, 1);
        name++;
    }
    if (end - name > 2 && !is_plain_property(name, (size_t)(end - name))) {
        graft_text_add_string(r->out, "sc:");
    }
    copy(r, (size_t)(end - name) + 1);
}

static void rewrite_code_point(struct rewrite *r) {
    if (r->length - r->at < 6 || strspn(r->from + r->at + 2, "0123456789abcdefABCDEF") < 4) {
        r->refused = "\\u without four digits";
        return;
    }
    graft_text_printf(r->out, "\\x{%.4s}", r->from + r->at + 2);
    r->at += 6;
}

static void rewrite_escape(struct rewrite *r) {
    char letter = r->at + 1 < r->length ? r->from[r->at + 1] : '\0';
    if (letter == 's' || letter == 'S') {
        replace(r, 2, letter == 's' ? "\\p{White_Space}" : "\\P{White_Space}");
    } else if (letter == 'p' || letter == 'P') {
        rewrite_property(r);
    } else if (letter == 'u') {
        rewrite_code_point(r);
    } else if (letter == 'w') {
        replace(r, 2, r->in_class ? WORD : "[" WORD "]");
    } else if (letter == 'W' && !r->in_class) {
        replace(r, 2, "[^" WORD "]");
    } else if (letter == 'b' && !r->in_class) {
        replace(r, 2, "(?:(?<=[" WORD "])(?![" WORD "])|(?<![" WORD "])(?=[" WORD "]))");
    } else if (letter == 'B' && !r->in_class) {
        replace(r, 2, "(?:(?<=[" WORD "])(?=[" WORD "])|(?<![" WORD "])(?![" WORD "]))");
    } else if (letter != '\0' && strchr("dDnrtfvaexAzZ", letter) == NULL &&
               ((letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z'))) {
        r->refused = "an escape that is read in two ways";
    } else {
        copy(r, 2);
    }
}

static void rewrite_in_class(struct rewrite *r) {
    if (ahead(r, "[")) {
        r->refused = "a class inside a class";
    } else if (ahead(r, "&&")) {
        r->refused = "an intersection of classes";
    } else {
        r->in_class = !ahead(r, "]");
        copy(r, 1);
    }
}

/* "(" with what makes the group special. */
static void rewrite_group(struct rewrite *r) {
    static const char *const known[] = {"(?:", "(?=", "(?!", "(?>", "(?<", "(?i:", "(?-i:"};
    if (!ahead(r, "(?") && !ahead(r, "(*")) {
        copy(r, 1);
        return;
    }
    if (r->at == 0 && ahead(r, "(?i)")) {
        copy(r, 4);
        return;
    }
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (ahead(r, known[i])) {
            copy(r, strlen(known[i]));
            return;
        }
    }
    r->refused = "a group or option that is read in two ways";
}

/* "{": a repetition, or a brace that stands for itself. */
static void rewrite_brace(struct rewrite *r) {
    size_t digits = strspn(r->from + r->at + 1, "0123456789,");
    const char *after = r->from + r->at + 1 + digits;
    if (ahead(r, "{,") || (digits > 0 && after[0] == '}' && after[1] == '+')) {
        r->refused = "a repetition that is read in two ways";
    } else {
        copy(r, 1);
    }
}

static void rewrite_outside(struct rewrite *r) {
    switch (r->from[r->at]) {
    case '^':
        replace(r, 1, "(?m:^)");
        break;
    case '$':
        replace(r, 1, "(?m:$)");
        break;
    case '(':
        rewrite_group(r);
        break;
    case '{':
        rewrite_brace(r);
        break;
    case '[':
        r->in_class = 1;
        copy(r, ahead(r, "[^]") ? 3 : ahead(r, "[]") || ahead(r, "[^") ? 2 : 1);
        break;
    default:
        copy(r, 1);
    }
}

int graft_dialect_rewrite(const char *expression, size_t length, struct graft_text *out, const struct graft_spec *spec,
                          struct graft_error *error) {
    struct rewrite r = {expression, length, 0, 0, out, NULL};
    while (r.at < length && r.refused == NULL) {
        size_t start = r.at;
        if (expression[r.at] == '\\') {
            rewrite_escape(&r);
        } else if (r.in_class) {
            rewrite_in_class(&r);
        } else {
            rewrite_outside(&r);
        }
        if (r.refused != NULL) {
            return graft_spec_error(spec, error, "%s, at byte %zu of the expression, is not supported", r.refused,
                                    start);
        }
    }
    return out->failed ? graft_fail_memory(error, spec->file) : GRAFT_OK;
}

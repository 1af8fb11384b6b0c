/* SPDX-License-Identifier: Apache-2.0 */
#include "tokenizer/dialect.h"

#include <string.h>

#include "base/fail.h"
#include "tokenizer/dialect_rewrite.h"

int graft_rewrite_ahead(const struct graft_rewrite *r, const char *prefix) {
    size_t n = strlen(prefix);
    return r->length - r->at >= n && memcmp(r->from + r->at, prefix, n) == 0;
}

void graft_rewrite_copy(struct graft_rewrite *r, size_t n) {
    n = n < r->length - r->at ? n : r->length - r->at;
    graft_text_add(r->out, r->from + r->at, n);
    r->at += n;
}

static void replace(struct graft_rewrite *r, size_t taken, const char *by) {
    graft_text_add_string(r->out, by);
    r->at += taken;
}

/* Rewrites \p{name} or \P{name} whose name PCRE2 reads otherwise: a general category's short name is kept; a script's
 * name stands for the script without its extensions. */
static void rewrite_property(struct graft_rewrite *r) {
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
    graft_rewrite_copy(r, 3);
    if (r->from[r->at] == '^') {
        graft_rewrite_copy(r, 1);
        name++;
    }
    if (end - name > 2) {
        graft_text_add_string(r->out, "sc:");
    }
    graft_rewrite_copy(r, (size_t)(end - name) + 1);
}

static void rewrite_code_point(struct graft_rewrite *r) {
    if (r->length - r->at < 6 || strspn(r->from + r->at + 2, "0123456789abcdefABCDEF") < 4) {
        r->refused = "\\u without four digits";
        return;
    }
    graft_text_printf(r->out, "\\x{%.4s}", r->from + r->at + 2);
    r->at += 6;
}

void graft_rewrite_character_escape(struct graft_rewrite *r, int in_class) {
    const char *same = in_class ? "dDnrtfvaex" : "dDnrtfvaexAzZNR";
    char letter = r->at + 1 < r->length ? r->from[r->at + 1] : '\0';
    if (letter == 'p' || letter == 'P') {
        rewrite_property(r);
    } else if (letter == 'u') {
        rewrite_code_point(r);
    } else if (letter == 'b' && in_class) {
        replace(r, 2, "\\x{08}");
    } else if (letter != '\0' && strchr(same, letter) == NULL &&
               ((letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z'))) {
        r->refused = "an escape that is read in two ways";
    } else {
        graft_rewrite_copy(r, 2);
    }
}

/* Rewrites \b and \B with Oniguruma's set of word characters. */
static void rewrite_boundary(struct graft_rewrite *r, int at_boundary) {
    struct graft_rewrite word = {.from = "\\w", .length = 2};
    const char *w = graft_rewrite_read_set(&word, 0).members;
    const char *before = at_boundary ? "=" : "!", *after = at_boundary ? "!" : "=";
    graft_text_printf(r->out, "(?:(?<=[%s])(?%s[%s])|(?<![%s])(?%s[%s]))", w, after, w, w, before, w);
    r->at += 2;
}

static void rewrite_escape(struct graft_rewrite *r) {
    struct graft_rewrite_set set = graft_rewrite_read_set(r, 0);
    if (set.members != NULL) {
        graft_rewrite_add_set(r->out, set);
    } else if (graft_rewrite_ahead(r, "\\b") || graft_rewrite_ahead(r, "\\B")) {
        rewrite_boundary(r, r->from[r->at + 1] == 'b');
    } else if (graft_rewrite_ahead(r, "\\O")) {
        replace(r, 2, "(?s:.)");
    } else {
        graft_rewrite_character_escape(r, 0);
    }
}

/* Rewrites the options i and m (PCRE2's s) being switched on or off: "(?i-m:" or, at the start, "(?i)". */
static int rewrite_options(struct graft_rewrite *r) {
    size_t n = strspn(r->from + r->at + 2, "im-");
    char end = r->from[r->at + 2 + n];
    if (n == 0 || (end != ':' && (end != ')' || r->at > 0))) {
        return 0;
    }
    graft_text_add_string(r->out, "(?");
    for (size_t i = 0; i < n; i++) {
        char option = r->from[r->at + 2 + i];
        graft_text_add(r->out, option == 'm' ? "s" : &option, 1);
    }
    graft_text_add(r->out, &end, 1);
    r->at += n + 3;
    r->n_groups -= end == ')'; /* "(?i)" opens no group */
    return 1;
}

/* Copies "(" together with what makes the group special. */
static void rewrite_group(struct graft_rewrite *r) {
    static const char *const known[] = {"(?:", "(?=", "(?!", "(?>", "(?<"};
    if (r->n_groups == GRAFT_DIALECT_MAX_NESTING) {
        r->refused = "a group nested so deep";
        return;
    }
    r->groups[r->n_groups++] = r->out->length;
    if (!graft_rewrite_ahead(r, "(?") && !graft_rewrite_ahead(r, "(*")) {
        graft_rewrite_copy(r, 1);
        return;
    }
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (graft_rewrite_ahead(r, known[i])) {
            graft_rewrite_copy(r, strlen(known[i]));
            return;
        }
    }
    if (graft_rewrite_ahead(r, "(*") || !rewrite_options(r)) {
        r->refused = "a group or option that is read in two ways";
    }
}

/* Puts an atom and its repetition into a group, so that a second repetition applies to both. */
static void group_repetition(struct graft_rewrite *r) {
    graft_text_add_string(r->out, "(?:)");
    if (!r->out->failed) {
        char *atom = r->out->bytes + r->atom;
        memmove(atom + 3, atom, r->out->length - r->atom - 4);
        atom[0] = '(';
        atom[1] = '?';
        atom[2] = ':';
        r->out->bytes[r->out->length - 1] = ')';
    }
}

/* Rewrites "{": a repetition, or a literal brace. In Oniguruma "+" after {n,m} is not possessive, and "?" after {n} is
 * not lazy. */
static void rewrite_brace(struct graft_rewrite *r) {
    static const char digits[] = "0123456789";
    const char *start = r->from + r->at + 1;
    size_t n = strspn(start, digits), comma = start[n] == ',', m = comma ? strspn(start + n + 1, digits) : 0;
    const char *end = start + n + comma + m;
    if (n + m == 0 || *end != '}') {
        replace(r, 1, "\\{");
        r->atom = r->out->length - 2;
        return;
    }
    graft_text_add_string(r->out, n == 0 ? "{0" : "{");
    r->at++;
    graft_rewrite_copy(r, (size_t)(end - start) + 1);
    if (graft_rewrite_ahead(r, "+") || (!comma && graft_rewrite_ahead(r, "?"))) {
        group_repetition(r);
    }
}

static size_t character_length(char first) {
    unsigned char byte = (unsigned char)first;
    return byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

/* Rewrites the next atom or repetition. */
static void rewrite_next(struct graft_rewrite *r) {
    size_t start = r->out->length;
    char c = r->from[r->at];
    if (c == '{') {
        rewrite_brace(r);
        return;
    }
    if (c == '*' || c == '+' || c == '?') {
        graft_rewrite_copy(r, 1);
        return;
    }
    r->atom = start;
    switch (c) {
    case '\\':
        rewrite_escape(r);
        break;
    case '^':
        replace(r, 1, "(?m:^)");
        break;
    case '$':
        replace(r, 1, "(?m:$)");
        break;
    case '[':
        graft_rewrite_class(r);
        break;
    case '(':
        rewrite_group(r);
        break;
    case ')':
        graft_rewrite_copy(r, 1);
        r->atom = r->n_groups > 0 ? r->groups[--r->n_groups] : start;
        break;
    default:
        graft_rewrite_copy(r, character_length(c));
    }
}

int graft_dialect_rewrite(const char *expression, size_t length, struct graft_text *out, const struct graft_field *spec,
                          struct graft_error *error) {
    struct graft_rewrite r = {.from = expression, .length = length, .out = out};
    while (r.at < length && r.refused == NULL) {
        size_t start = r.at;
        rewrite_next(&r);
        if (r.refused != NULL) {
            return graft_field_error(spec, error, "%s, at byte %zu of the expression, is not supported", r.refused,
                                     start);
        }
    }
    return out->failed ? graft_fail_memory(error, spec->file) : GRAFT_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Oniguruma's named sets of characters, in PCRE2's notation. */
#include <string.h>

#include "tokenizer/dialect_rewrite.h"

#define WORD "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}"
/* Outside of classes \w also matches the superscripts and fractions of Latin-1, but no others. */
#define WORD_OUTSIDE WORD "\\x{B2}\\x{B3}\\x{B9}\\x{BC}-\\x{BE}"
#define SPACE "\\p{White_Space}"
#define HEX "0-9A-Fa-f"

struct named_set {
    const char *name; /* lower case, without spaces, hyphens and underscores */
    const char *members;
};

/* Names that are valid in [:name:] and in \p{name}. */
static const struct named_set sets[] = {
    {"alnum", "\\p{Alphabetic}\\p{Nd}"},
    {"alpha", "\\p{Alphabetic}"},
    {"ascii", "\\x{00}-\\x{7F}"},
    {"blank", "\\p{Zs}\\t"},
    {"cntrl", "\\p{Cc}"},
    {"digit", "\\p{Nd}"},
    {"lower", "\\p{Lowercase}"},
    {"punct", "\\p{P}\\p{S}"},
    {"space", SPACE},
    {"upper", "\\p{Uppercase}"},
    {"word", WORD},
    {"xdigit", HEX},
};

/* Names that are valid in \p{name} only. */
static const struct named_set properties[] = {
    {"any", "\\p{Any}"},
    {"alphabetic", "\\p{Alphabetic}"},
    {"whitespace", SPACE},
    {"uppercase", "\\p{Uppercase}"},
    {"lowercase", "\\p{Lowercase}"},
    {"emoji", "\\p{Emoji}"},
    {"extendedpictographic", "\\p{Extended_Pictographic}"},
    {"letter", "\\p{L}"},
    {"casedletter", "\\p{L&}"},
    {"uppercaseletter", "\\p{Lu}"},
    {"lowercaseletter", "\\p{Ll}"},
    {"titlecaseletter", "\\p{Lt}"},
    {"modifierletter", "\\p{Lm}"},
    {"otherletter", "\\p{Lo}"},
    {"mark", "\\p{M}"},
    {"combiningmark", "\\p{M}"},
    {"nonspacingmark", "\\p{Mn}"},
    {"spacingmark", "\\p{Mc}"},
    {"enclosingmark", "\\p{Me}"},
    {"number", "\\p{N}"},
    {"decimalnumber", "\\p{Nd}"},
    {"letternumber", "\\p{Nl}"},
    {"othernumber", "\\p{No}"},
    {"punctuation", "\\p{P}"},
    {"connectorpunctuation", "\\p{Pc}"},
    {"dashpunctuation", "\\p{Pd}"},
    {"openpunctuation", "\\p{Ps}"},
    {"closepunctuation", "\\p{Pe}"},
    {"initialpunctuation", "\\p{Pi}"},
    {"finalpunctuation", "\\p{Pf}"},
    {"otherpunctuation", "\\p{Po}"},
    {"symbol", "\\p{S}"},
    {"mathsymbol", "\\p{Sm}"},
    {"currencysymbol", "\\p{Sc}"},
    {"modifiersymbol", "\\p{Sk}"},
    {"othersymbol", "\\p{So}"},
    {"separator", "\\p{Z}"},
    {"spaceseparator", "\\p{Zs}"},
    {"lineseparator", "\\p{Zl}"},
    {"paragraphseparator", "\\p{Zp}"},
    {"control", "\\p{Cc}"},
    {"format", "\\p{Cf}"},
    {"privateuse", "\\p{Co}"},
};

/* Whether the two names are equal but for case, spaces, hyphens and underscores. */
static int is_named(const char *name, const char *text, size_t length) {
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        if (c == ' ' || c == '-' || c == '_') {
            continue;
        }
        c = (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
        if (*name == '\0' || *name++ != c) {
            return 0;
        }
    }
    return *name == '\0';
}

static const char *find(const struct named_set *table, size_t n, const char *text, size_t length) {
    size_t i = 0;
    while (i < n && !is_named(table[i].name, text, length)) {
        i++;
    }
    return i < n ? table[i].members : NULL;
}

static const char *find_property(const char *text, size_t length) {
    /* \p{Punct} excludes symbols, unlike [:punct:]. */
    const char *members =
        is_named("punct", text, length) ? "\\p{P}" : find(sets, sizeof sets / sizeof sets[0], text, length);
    return members != NULL ? members : find(properties, sizeof properties / sizeof properties[0], text, length);
}

/* Reads \p{name}, \p{^name} or \P{name} with a name of the tables; other names are left to PCRE2. */
static struct graft_rewrite_set read_property(struct graft_rewrite *r) {
    struct graft_rewrite_set set = {NULL, r->from[r->at + 1] == 'P'};
    size_t start = r->at + 3;
    const char *end =
        start <= r->length && r->from[start - 1] == '{' ? memchr(r->from + start, '}', r->length - start) : NULL;
    if (end == NULL) {
        return set;
    }
    if (r->from[start] == '^') {
        set.negated = !set.negated;
        start++;
    }
    set.members = find_property(r->from + start, (size_t)(end - r->from) - start);
    if (set.members != NULL) {
        r->at = (size_t)(end - r->from) + 1;
    }
    return set;
}

int graft_rewrite_is_property(struct graft_rewrite_set set) {
    const char *end = strchr(set.members, '}');
    return strncmp(set.members, "\\p{", 3) == 0 && end != NULL && end[1] == '\0';
}

void graft_rewrite_add_set(struct graft_text *out, struct graft_rewrite_set set) {
    if (graft_rewrite_is_property(set)) {
        graft_text_printf(out, set.negated ? "\\P%s" : "\\p%s", set.members + 2);
    } else {
        graft_text_printf(out, set.negated ? "[^%s]" : "[%s]", set.members);
    }
}

static struct graft_rewrite_set read_set(struct graft_rewrite *r) {
    char letter = r->at + 1 < r->length ? r->from[r->at + 1] : '\0';
    struct graft_rewrite_set set = {NULL, letter == 'S' || letter == 'W' || letter == 'H'};
    if (letter == 'p' || letter == 'P') {
        return read_property(r);
    }
    set.members = letter == 's' || letter == 'S'   ? SPACE
                  : letter == 'w' || letter == 'W' ? WORD
                  : letter == 'h' || letter == 'H' ? HEX
                                                   : NULL;
    r->at += set.members != NULL ? 2 : 0;
    return set;
}

struct graft_rewrite_set graft_rewrite_read_set(struct graft_rewrite *r, int in_class) {
    struct graft_rewrite_set set = read_set(r);
    if (set.members != NULL && !in_class && strcmp(set.members, WORD) == 0) {
        set.members = WORD_OUTSIDE;
    }
    return set;
}

struct graft_rewrite_set graft_rewrite_read_bracket(struct graft_rewrite *r) {
    struct graft_rewrite_set set = {NULL, graft_rewrite_ahead(r, "[:^")};
    size_t start = r->at + 2 + (size_t)set.negated;
    if (!graft_rewrite_ahead(r, "[:") || start > r->length) {
        return set;
    }
    const char *end = memchr(r->from + start, ':', r->length - start);
    if (end != NULL && end + 1 < r->from + r->length && end[1] == ']') {
        set.members = find(sets, sizeof sets / sizeof sets[0], r->from + start, (size_t)(end - r->from) - start);
    }
    if (set.members == NULL) {
        r->refused = "a bracket expression of that name";
        return set;
    }
    r->at = (size_t)(end - r->from) + 2;
    return set;
}

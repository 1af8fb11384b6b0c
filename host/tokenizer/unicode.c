/* SPDX-License-Identifier: Apache-2.0 */
#include "tokenizer/unicode.h"

#include <utf8proc.h>

#include "base/alloc.h"
#include "base/utf8.h"

static utf8proc_category_t category(uint32_t code) {
    return utf8proc_category((utf8proc_int32_t)code);
}

int graft_unicode_is_space(uint32_t code) {
    return (code >= 0x09 && code <= 0x0D) || code == 0x20 || code == 0x85 || code == 0xA0 || code == 0x1680 ||
           (code >= 0x2000 && code <= 0x200A) || code == 0x2028 || code == 0x2029 || code == 0x202F || code == 0x205F ||
           code == 0x3000;
}

/* Whether a symbol is alphabetic: circled and squared letters are. */
static int is_letter_symbol(uint32_t code) {
    return (code >= 0x24B6 && code <= 0x24E9) || (code >= 0x1F130 && code <= 0x1F149) ||
           (code >= 0x1F150 && code <= 0x1F169) || (code >= 0x1F170 && code <= 0x1F189);
}

int graft_unicode_is_word(uint32_t code) {
    switch (category(code)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_PC:
        return 1;
    default:
        return graft_unicode_is_mark(code) || code == 0x200C || code == 0x200D || is_letter_symbol(code);
    }
}

int graft_unicode_is_punctuation(uint32_t code) {
    utf8proc_category_t of = category(code);
    return of >= UTF8PROC_CATEGORY_PC && of <= UTF8PROC_CATEGORY_PO;
}

int graft_unicode_is_bert_punctuation(uint32_t code) {
    return (code >= 0x21 && code <= 0x2F) || (code >= 0x3A && code <= 0x40) || (code >= 0x5B && code <= 0x60) ||
           (code >= 0x7B && code <= 0x7E) || graft_unicode_is_punctuation(code);
}

int graft_unicode_is_number(uint32_t code) {
    utf8proc_category_t of = category(code);
    return of >= UTF8PROC_CATEGORY_ND && of <= UTF8PROC_CATEGORY_NO;
}

int graft_unicode_is_mark(uint32_t code) {
    utf8proc_category_t of = category(code);
    return of >= UTF8PROC_CATEGORY_MN && of <= UTF8PROC_CATEGORY_ME;
}

int graft_unicode_is_nonspacing(uint32_t code) {
    return category(code) == UTF8PROC_CATEGORY_MN;
}

int graft_unicode_is_control(uint32_t code) {
    utf8proc_category_t of = category(code);
    return of == UTF8PROC_CATEGORY_CC || of == UTF8PROC_CATEGORY_CF || of == UTF8PROC_CATEGORY_CO;
}

size_t graft_unicode_cluster(const char *bytes, size_t length) {
    uint32_t code, next;
    utf8proc_int32_t state = 0;
    size_t at = graft_utf8_read(bytes, &code);
    while (at < length) {
        size_t n = graft_utf8_read(bytes + at, &next);
        int plain = code < 0x80 && next < 0x80 && code != '\r';
        if (plain || utf8proc_grapheme_break_stateful((utf8proc_int32_t)code, (utf8proc_int32_t)next, &state)) {
            break;
        }
        code = next;
        at += n;
    }
    return at;
}

void graft_unicode_add_lower(struct graft_text *text, uint32_t code) {
    graft_utf8_add(text, (uint32_t)utf8proc_tolower((utf8proc_int32_t)code));
    if (code == 0x130) {
        graft_utf8_add(text, 0x307); /* the only letter whose lower case is two characters: "i" and its dot */
    }
}

/* Decomposed characters. The canonical combining class is in the upper bits, so that sorting moves one number. */
struct decomposed {
    uint32_t *codes; /* [n] class << 24 | code */
    size_t n;
    size_t capacity;
};

static int add_decomposed(struct decomposed *list, utf8proc_int32_t code) {
    uint32_t class = (uint32_t)utf8proc_get_property(code)->combining_class;
    if (graft_grow(&list->codes, &list->capacity, list->n, sizeof *list->codes) != 0) {
        return -1;
    }
    list->codes[list->n++] = class << 24 | (uint32_t)code;
    return 0;
}

static int decompose(const char *bytes, size_t length, utf8proc_option_t options, struct decomposed *list) {
    for (size_t at = 0; at < length;) {
        enum { LONGEST = 32 }; /* the longest decomposition in the tables has 18 characters */
        utf8proc_int32_t parts[LONGEST];
        uint32_t code;
        int boundary = 0;
        at += graft_utf8_read(bytes + at, &code);
        utf8proc_ssize_t n = utf8proc_decompose_char((utf8proc_int32_t)code, parts, LONGEST, options, &boundary);
        if (n < 0 || n > LONGEST) {
            return -1;
        }
        for (utf8proc_ssize_t i = 0; i < n; i++) {
            if (add_decomposed(list, parts[i]) != 0) {
                return -1;
            }
        }
    }
    return 0;
}

/* Sorts one run of marks by class, and keeps the order within a class. Counts instead of comparing, because a run may
 * be as long as the text. */
static int sort_run(uint32_t *run, size_t n) {
    size_t first[257] = {0};
    uint32_t *sorted = graft_alloc(n, sizeof *sorted);
    if (sorted == NULL) {
        return -1;
    }
    for (size_t i = 0; i < n; i++) {
        first[(run[i] >> 24) + 1]++;
    }
    for (size_t i = 0; i < 256; i++) {
        first[i + 1] += first[i];
    }
    for (size_t i = 0; i < n; i++) {
        sorted[first[run[i] >> 24]++] = run[i];
    }
    for (size_t i = 0; i < n; i++) {
        run[i] = sorted[i];
    }
    graft_free(sorted);
    return 0;
}

/* Puts marks in canonical order, and removes the classes. */
static int order_marks(struct decomposed *list) {
    for (size_t i = 0; i < list->n;) {
        size_t start = i;
        int sorted = 1;
        for (; i < list->n && list->codes[i] >> 24 != 0; i++) {
            sorted &= i == start || list->codes[i] >> 24 >= list->codes[i - 1] >> 24;
        }
        if (!sorted && sort_run(list->codes + start, i - start) != 0) {
            return -1;
        }
        i += i == start;
    }
    for (size_t i = 0; i < list->n; i++) {
        list->codes[i] &= 0xFFFFFF;
    }
    return 0;
}

static int is_ascii(const char *bytes, size_t length) {
    size_t i = 0;
    while (i < length && (unsigned char)bytes[i] < 0x80) {
        i++;
    }
    return i == length;
}

void graft_unicode_normalize(enum graft_unicode_form form, const char *bytes, size_t length, struct graft_text *out) {
    struct decomposed list = {0};
    int compose = form == GRAFT_UNICODE_NFC || form == GRAFT_UNICODE_NFKC;
    int compatibility = form == GRAFT_UNICODE_NFKC || form == GRAFT_UNICODE_NFKD;
    if (is_ascii(bytes, length)) {
        graft_text_add(out, bytes, length);
        return;
    }
    int options = UTF8PROC_DECOMPOSE | UTF8PROC_STABLE | (compatibility ? UTF8PROC_COMPAT : 0);
    if (decompose(bytes, length, (utf8proc_option_t)options, &list) != 0 || order_marks(&list) != 0) {
        out->failed = 1;
    } else if (compose) {
        list.n = (size_t)utf8proc_normalize_utf32((utf8proc_int32_t *)list.codes, (utf8proc_ssize_t)list.n,
                                                  (utf8proc_option_t)(UTF8PROC_COMPOSE | UTF8PROC_STABLE));
    }
    for (size_t i = 0; i < list.n && !out->failed; i++) {
        graft_utf8_add(out, list.codes[i]);
    }
    graft_free(list.codes);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the tokens of an expression: names, numbers, strings and operators, as jinja2 does. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/utf8.h"
#include "jinja/lexer.h"
#include "jinja/unicode.h"

/* How deep brackets may nest. */
enum { MAX_OPEN = 200 };

static int fail_at(const struct graft_jinja_lexer *lexer, size_t at, const char *what) {
    return graft_jinja_fault(lexer->error, GRAFT_ERROR_MODEL, lexer->source, (uint32_t)at, "%s", what);
}

static int is_digit(char c) {
    return c >= '0' && c <= '9';
}

static int is_name_part(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || ((unsigned char)c & 0x80);
}

/* Returns the offset after digits that may be grouped by '_'. */
static size_t skip_digits(const struct graft_jinja_source *source, size_t at) {
    while (at < source->length && (is_digit(source->text[at]) || (source->text[at] == '_' && at + 1 < source->length &&
                                                                  is_digit(source->text[at + 1])))) {
        at++;
    }
    return at;
}

static int digit_at(const struct graft_jinja_source *source, size_t at) {
    return at < source->length && is_digit(source->text[at]);
}

/* Returns the offset after an exponent such as "e10", or `at` if there is none. */
static size_t skip_exponent(const struct graft_jinja_source *source, size_t at) {
    if (at >= source->length || (source->text[at] != 'e' && source->text[at] != 'E')) {
        return at;
    }
    size_t digits = at + 1;
    digits += digits < source->length && (source->text[digits] == '+' || source->text[digits] == '-');
    return digit_at(source, digits) ? skip_digits(source, digits) : at;
}

static int lex_number(struct graft_jinja_lexer *lexer) {
    const struct graft_jinja_source *source = lexer->source;
    size_t begin = lexer->at;
    size_t end = skip_digits(source, begin);
    size_t whole = end;
    if (end < source->length && source->text[end] == '.' && digit_at(source, end + 1)) {
        end = skip_digits(source, end + 1);
    }
    end = skip_exponent(source, end);
    enum graft_jinja_token_kind kind = end > whole ? GRAFT_JINJA_TOKEN_FLOAT : GRAFT_JINJA_TOKEN_INTEGER;
    struct graft_text digits = {0};
    for (size_t i = begin; i < end; i++) {
        if (source->text[i] != '_') {
            graft_text_add(&digits, source->text + i, 1);
        }
    }
    char *copy = digits.failed ? NULL : graft_jinja_arena_copy(lexer->arena, digits.bytes, digits.length);
    size_t length = digits.length;
    graft_text_free(&digits);
    lexer->at = end;
    return copy != NULL ? graft_jinja_lexer_add(lexer, kind, begin, copy, length)
                        : graft_fail_memory(lexer->error, source->name);
}

/* Reads `n` hexadecimal digits; returns -1 if there are fewer. */
static long read_hex(const struct graft_jinja_source *source, size_t at, size_t n) {
    char digits[9] = {0};
    if (n >= sizeof digits || at + n > source->length) {
        return -1;
    }
    memcpy(digits, source->text + at, n);
    char *end = NULL;
    long number = strtol(digits, &end, 16);
    return strspn(digits, "0123456789abcdefABCDEF") == n ? number : -1;
}

/* Reads an escape, after its backslash, as Python does: an unknown one stands for itself. Returns the bytes read, or 0
 * if it is malformed. */
static size_t add_escape(const struct graft_jinja_source *source, size_t at, struct graft_text *out) {
    static const char letters[] = "\\'\"abfnrtv";
    static const char meant[] = "\\'\"\a\b\f\n\r\t\v";
    char letter = source->text[at];
    const char *found = letter != '\0' ? strchr(letters, letter) : NULL;
    if (found != NULL) {
        graft_text_add(out, &meant[found - letters], 1);
        return 1;
    }
    if (letter == '\n') {
        return 1;
    }
    if (letter >= '0' && letter <= '7') {
        uint32_t code = 0;
        size_t n = 0;
        for (; n < 3 && at + n < source->length && source->text[at + n] >= '0' && source->text[at + n] <= '7'; n++) {
            code = code * 8 + (uint32_t)(source->text[at + n] - '0');
        }
        graft_utf8_add(out, code);
        return n;
    }
    size_t digits = letter == 'x' ? 2 : letter == 'u' ? 4 : letter == 'U' ? 8 : 0;
    if (digits > 0) {
        long code = read_hex(source, at + 1, digits);
        if (code < 0 || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) {
            return 0;
        }
        graft_utf8_add(out, (uint32_t)code);
        return 1 + digits;
    }
    graft_text_add(out, "\\", 1);
    return SIZE_MAX;
}

static int lex_string(struct graft_jinja_lexer *lexer) {
    const struct graft_jinja_source *source = lexer->source;
    size_t begin = lexer->at;
    size_t at = begin + 1;
    struct graft_text text = {0};
    while (at < source->length && source->text[at] != source->text[begin]) {
        size_t step = graft_utf8_sequence(source->text + at, source->length - at);
        if (source->text[at] != '\\') {
            graft_text_add(&text, source->text + at, step);
        } else if (at + 1 < source->length) {
            size_t read = add_escape(source, at + 1, &text);
            if (read == 0) {
                graft_text_free(&text);
                return fail_at(lexer, at, "the escape is none of Python's");
            }
            step = 1 + (read == SIZE_MAX ? 0 : read);
        }
        at += step;
    }
    if (at >= source->length) {
        graft_text_free(&text);
        return fail_at(lexer, begin, "the string has no end");
    }
    lexer->at = at + 1;
    char *copy = text.failed ? NULL : graft_jinja_arena_copy(lexer->arena, text.bytes, text.length);
    size_t length = text.length;
    graft_text_free(&text);
    return copy != NULL ? graft_jinja_lexer_add(lexer, GRAFT_JINJA_TOKEN_STRING, begin, copy, length)
                        : graft_fail_memory(lexer->error, source->name);
}

static int lex_operator(struct graft_jinja_lexer *lexer, char *open, size_t *n_open) {
    static const char *const operators[] = {"//", "**", "==", "!=", ">=", "<=", "+", "-", "/", "*", "%", "~", "[",
                                            "]",  "(",  ")",  "{",  "}",  ">",  "<", "=", ".", ":", "|", ",", ";"};
    const struct graft_jinja_source *source = lexer->source;
    size_t begin = lexer->at;
    size_t i = 0;
    const size_t n = sizeof operators / sizeof operators[0];
    while (i < n && (strlen(operators[i]) > source->length - begin ||
                     memcmp(source->text + begin, operators[i], strlen(operators[i])) != 0)) {
        i++;
    }
    if (i == n) {
        return fail_at(lexer, begin, "this character begins nothing that Jinja knows");
    }
    char c = operators[i][0];
    if (c == '[' || c == '(' || c == '{') {
        if (*n_open == MAX_OPEN) {
            return fail_at(lexer, begin, "more than 200 brackets are open");
        }
        open[(*n_open)++] = c == '[' ? ']' : c == '(' ? ')' : '}';
    } else if ((c == ']' || c == ')' || c == '}') && (*n_open == 0 || open[--*n_open] != c)) {
        return fail_at(lexer, begin, "this bracket closes none");
    }
    lexer->at = begin + strlen(operators[i]);
    return graft_jinja_lexer_add(lexer, GRAFT_JINJA_TOKEN_OPERATOR, begin, operators[i], strlen(operators[i]));
}

/* Returns whether the tag ends here, and if so consumes its end. */
static int take_end(struct graft_jinja_lexer *lexer, const char *closing, char *mark) {
    const struct graft_jinja_source *source = lexer->source;
    size_t at = lexer->at;
    char sign = source->text[at];
    int has_mark = sign == '-' || (sign == '+' && closing[0] == '%');
    at += (size_t)has_mark;
    if (at + 2 > source->length || memcmp(source->text + at, closing, 2) != 0) {
        return 0;
    }
    *mark = has_mark ? sign : (char)0;
    lexer->at = at + 2;
    return 1;
}

int graft_jinja_lex_inside(struct graft_jinja_lexer *lexer, const char *closing, char *mark) {
    const struct graft_jinja_source *source = lexer->source;
    char open[MAX_OPEN];
    size_t n_open = 0;
    size_t begin = lexer->at;
    int status = GRAFT_OK;
    while (status == GRAFT_OK && lexer->at < source->length) {
        uint32_t code;
        size_t step = graft_utf8_read(source->text + lexer->at, &code);
        if (n_open == 0 && take_end(lexer, closing, mark)) {
            return GRAFT_OK;
        }
        if (graft_jinja_is_space(code)) {
            lexer->at += step;
        } else if (code < 0x80 && is_digit((char)code)) {
            status = lex_number(lexer);
        } else if (code >= 0x80 || is_name_part((char)code)) {
            size_t end = lexer->at;
            while (end < source->length && is_name_part(source->text[end])) {
                end++;
            }
            status = graft_jinja_lexer_add(lexer, GRAFT_JINJA_TOKEN_NAME, lexer->at, source->text + lexer->at,
                                           end - lexer->at);
            lexer->at = end;
        } else if (code == '"' || code == '\'') {
            status = lex_string(lexer);
        } else {
            status = lex_operator(lexer, open, &n_open);
        }
    }
    return status != GRAFT_OK ? status
                              : graft_jinja_fault(lexer->error, GRAFT_ERROR_MODEL, source, (uint32_t)begin,
                                                  "the tag has no end, expected \"%s\"", closing);
}

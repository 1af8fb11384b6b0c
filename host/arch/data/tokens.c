/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/data/tokens.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";
static const char name_bytes[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
static const char part_bytes[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789#";
static const char digits[] = "0123456789";

static size_t name_length(const char *text) {
    size_t length = strspn(text, letters) > 0 ? strspn(text, name_bytes) : 0;
    while (length > 0 && text[length] == '.' && strspn(text + length + 1, part_bytes) > 0) {
        length += 1 + strspn(text + length + 1, part_bytes);
    }
    return length;
}

/* Length of a number: digits, a fraction, an exponent. */
static size_t number_length(const char *text, int *is_real) {
    size_t length = strspn(text, digits);
    *is_real = 0;
    if (length > 0 && text[length] == '.' && strspn(text + length + 1, digits) > 0) {
        length += 1 + strspn(text + length + 1, digits);
        *is_real = 1;
    }
    if (length > 0 && (text[length] == 'e' || text[length] == 'E')) {
        size_t sign = text[length + 1] == '-' || text[length + 1] == '+' ? 2 : 1;
        size_t exponent = strspn(text + length + sign, digits);
        length += exponent > 0 ? sign + exponent : 0;
        *is_real |= exponent > 0;
    }
    return length;
}

/* Parses a number; returns 0 if it does not fit 64 bits. */
static int read_number(const char *text, size_t length, int is_real, struct graft_value *value) {
    char number[64];
    char *point;
    if (length >= sizeof number) {
        return 0;
    }
    memcpy(number, text, length);
    number[length] = '\0';
    if (!is_real) {
        errno = 0;
        value->kind = GRAFT_VALUE_INT;
        value->integer = strtoll(number, NULL, 10);
        value->real = (double)value->integer;
        return errno == 0;
    }
    point = strchr(number, '.');
    if (point != NULL) { /* the locale's decimal point, which an embedding program may have set */
        *point = *localeconv()->decimal_point;
    }
    value->kind = GRAFT_VALUE_REAL;
    value->real = strtod(number, NULL);
    return isfinite(value->real);
}

int graft_token_is(const char *text, const struct graft_token *token, const char *word) {
    return strlen(word) == (size_t)token->length && memcmp(text + token->start, word, (size_t)token->length) == 0;
}

static int is_keyword(const char *text, const struct graft_token *name) {
    static const char *const words[] = {"or", "and", "not", "in", "true", "false", "null", "layer"};
    size_t i = 0;
    while (i < sizeof words / sizeof words[0] && !graft_token_is(text, name, words[i])) {
        i++;
    }
    return i < sizeof words / sizeof words[0];
}

/* Length of a symbol; for anything else, that of one character. */
static size_t symbol_length(const char *text) {
    static const char *const pairs[] = {"??", "==", "!=", "<=", ">=", "//", "**"};
    size_t length = graft_error_utf8(text);
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        if (strncmp(text, pairs[i], 2) == 0) {
            return 2;
        }
    }
    return length > 0 ? length : 1;
}

struct graft_token graft_token_next(const char *text, int32_t at) {
    struct graft_token token = {.start = at + (int32_t)strspn(text + at, " \t\r\n")};
    const char *start = text + token.start;
    size_t length = 0;
    int is_real = 0;
    if (*start == '\0') {
        token.kind = GRAFT_TOKEN_END;
    } else if (*start == '\'') {
        length = 1 + strcspn(start + 1, "'");
        token.kind = start[length] == '\'' ? GRAFT_TOKEN_TEXT : GRAFT_TOKEN_OPEN;
        length += start[length] == '\'';
    } else if ((length = number_length(start, &is_real)) > 0) {
        token.kind = read_number(start, length, is_real, &token.number) ? GRAFT_TOKEN_NUMBER : GRAFT_TOKEN_LARGE;
    } else if ((length = name_length(start)) > 0) {
        token.length = (int32_t)length;
        token.kind = is_keyword(text, &token) ? GRAFT_TOKEN_SYMBOL : GRAFT_TOKEN_NAME;
    } else {
        token.kind = GRAFT_TOKEN_SYMBOL;
        length = symbol_length(start);
    }
    token.length = (int32_t)length;
    return token;
}

void graft_number_write(double number, char *text, size_t size) {
    char shortest[40];
    for (int precision = 15; precision <= 17; precision++) {
        (void)snprintf(shortest, sizeof shortest, "%.*g", precision, number);
        if (strtod(shortest, NULL) == number) {
            break;
        }
    }
    const char point = *localeconv()->decimal_point;
    for (char *byte = shortest; *byte != '\0'; byte++) {
        *byte = *byte == point ? '.' : *byte;
    }
    (void)snprintf(text, size, "%s%s", shortest, strpbrk(shortest, ".en") == NULL ? ".0" : "");
}

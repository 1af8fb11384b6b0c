/* SPDX-License-Identifier: Apache-2.0 */
/* Splits the text of an expression into tokens. */
#ifndef GRAFT_ARCH_DATA_TOKENS_H
#define GRAFT_ARCH_DATA_TOKENS_H

#include <stdint.h>

#include "arch/data/expression.h"

enum graft_token_kind {
    GRAFT_TOKEN_END,
    GRAFT_TOKEN_SYMBOL, /* an operator or a bracket, "and", "true", or a character that has no meaning */
    GRAFT_TOKEN_NAME,   /* a dotted path */
    GRAFT_TOKEN_NUMBER,
    GRAFT_TOKEN_LARGE, /* a number that does not fit 64 bits */
    GRAFT_TOKEN_TEXT,  /* a string, with its quotes */
    GRAFT_TOKEN_OPEN   /* a string without its closing quote */
};

struct graft_token {
    enum graft_token_kind kind;
    int32_t start; /* byte offset in the text */
    int32_t length;
    struct graft_value number; /* of GRAFT_TOKEN_NUMBER */
};

/* [any] Returns the first token that starts at byte `at` of `text` or after it. */
struct graft_token graft_token_next(const char *text, int32_t at);

/* [any] Whether a token of `text` is that word. */
int graft_token_is(const char *text, const struct graft_token *token, const char *word);

/* [any] Writes a number so that it reads the same again, whatever the locale: "0.5", "1.0". */
void graft_number_write(double number, char *text, size_t size);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The words that the text of an expression consists of. */
#ifndef GRAFT_ARCH_DATA_TOKENS_H
#define GRAFT_ARCH_DATA_TOKENS_H

#include <stdint.h>

#include "arch/data/expression.h"

enum graft_token_kind {
    GRAFT_TOKEN_END,
    GRAFT_TOKEN_SYMBOL, /* an operator or a bracket, "and", "true", or what no text has a use for */
    GRAFT_TOKEN_NAME,   /* a dotted path */
    GRAFT_TOKEN_NUMBER,
    GRAFT_TOKEN_LARGE, /* a number that 64 bits do not hold */
    GRAFT_TOKEN_TEXT,  /* with its quotes */
    GRAFT_TOKEN_OPEN   /* a text without its second quote */
};

struct graft_token {
    enum graft_token_kind kind;
    int32_t start; /* in the text, in bytes from 0 on */
    int32_t length;
    struct graft_value number; /* of GRAFT_TOKEN_NUMBER */
};

/* [any] The token at or behind `at`. */
struct graft_token graft_token_next(const char *text, int32_t at);

/* [any] Writes a number so that it reads the same again, whatever the locale: "0.5", "1.0". */
void graft_number_write(double number, char *text, size_t size);

#endif

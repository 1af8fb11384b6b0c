/* SPDX-License-Identifier: Apache-2.0 */
/* Splits a template into tokens: texts, with unwanted white space already removed, and the tokens inside tags. */
#ifndef GRAFT_JINJA_LEXER_H
#define GRAFT_JINJA_LEXER_H

#include <stdint.h>

#include "jinja/arena.h"
#include "jinja/value.h"

#include "graft/error.h"

enum graft_jinja_token_kind {
    GRAFT_JINJA_TOKEN_END,
    GRAFT_JINJA_TOKEN_DATA,
    GRAFT_JINJA_TOKEN_BLOCK_BEGIN,
    GRAFT_JINJA_TOKEN_BLOCK_END,
    GRAFT_JINJA_TOKEN_OUTPUT_BEGIN,
    GRAFT_JINJA_TOKEN_OUTPUT_END,
    GRAFT_JINJA_TOKEN_NAME,
    GRAFT_JINJA_TOKEN_STRING,
    GRAFT_JINJA_TOKEN_INTEGER,
    GRAFT_JINJA_TOKEN_FLOAT,
    GRAFT_JINJA_TOKEN_OPERATOR,
};

struct graft_jinja_token {
    enum graft_jinja_token_kind kind;
    uint32_t at;                    /* byte offset in the source */
    struct graft_jinja_string text; /* as in the source; for a string, its value with escapes resolved */
};

/* What a template was parsed from. */
struct graft_jinja_source {
    const char *name; /* for errors */
    const char *text; /* [length], with LF for every line break */
    size_t length;
};

struct graft_jinja_tokens {
    struct graft_jinja_token *items; /* [n]; the last is GRAFT_JINJA_TOKEN_END */
    size_t n;
    size_t capacity;
};

/* [any] Records "line L column C: ..." for the byte `at`. Returns `code`. */
int graft_jinja_fault(struct graft_error *error, int code, const struct graft_jinja_source *source, uint32_t at,
                      const char *format, ...) __attribute__((format(printf, 5, 6)));

/* [any] Splits `source` into tokens. Texts that differ from the source are copied into the arena. The caller frees
 * `tokens->items` with graft_free, even on failure. */
int graft_jinja_lex(const struct graft_jinja_source *source, struct graft_jinja_arena *arena,
                    struct graft_jinja_tokens *tokens, struct graft_error *error);

/* The state of the lexer, for lexer*.c. */
struct graft_jinja_lexer {
    const struct graft_jinja_source *source;
    struct graft_jinja_arena *arena;
    struct graft_jinja_tokens *tokens;
    struct graft_error *error;
    size_t at;
};

int graft_jinja_lexer_add(struct graft_jinja_lexer *lexer, enum graft_jinja_token_kind kind, size_t at,
                          const char *bytes, size_t length);

/* Reads the tokens of an expression and the end of its tag: `closing` is "%}" or "}}". `*mark` is set to the mark for
 * white space in front of it, '-' or '+', or to 0. */
int graft_jinja_lex_inside(struct graft_jinja_lexer *lexer, const char *closing, char *mark);

#endif

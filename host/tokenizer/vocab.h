/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens and their ids, looked up both ways. Memory depends on the number of tokens, not on the largest id. */
#ifndef GRAFT_TOKENIZER_VOCAB_H
#define GRAFT_TOKENIZER_VOCAB_H

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "graft/host/tokenizer.h"
#include "tokenizer/map.h"

struct graft_token {
    size_t start; /* offset in the vocabulary's text */
    uint32_t length;
    int32_t id;
};

/* Starts as {0}. */
struct graft_vocab {
    struct graft_text text;     /* all tokens, one after another, each with a NUL after it */
    struct graft_token *tokens; /* [count] in the order in which they were added */
    size_t count;
    size_t capacity;
    uint32_t *by_text; /* [slots] index + 1 of a token, or 0 */
    size_t slots;
    struct graft_map by_id; /* from id to index */
};

/* [load] Reserves room for `count` tokens. Returns 0, or -1 if memory ran out. */
int graft_vocab_reserve(struct graft_vocab *vocab, size_t count);

/* [load] Adds a token whose text and id are both new. Returns 0, or -1 if memory ran out. */
int graft_vocab_add(struct graft_vocab *vocab, const char *text, size_t length, int32_t id);

/* [any] The token with this text or id; NULL if there is none. */
const struct graft_token *graft_vocab_find(const struct graft_vocab *vocab, const char *text, size_t length);
const struct graft_token *graft_vocab_find_id(const struct graft_vocab *vocab, int32_t id);

/* [any] The id of a token, or -1. */
int32_t graft_vocab_id(const struct graft_vocab *vocab, struct graft_text_view token);

/* [any] Looks up the ids of "<0x00>" to "<0xFF>", for models that fall back on bytes; -1 for those that the vocabulary
 * lacks. */
void graft_vocab_byte_tokens(const struct graft_vocab *vocab, int32_t tokens[256]);

/* [any] The token's bytes, NUL-terminated; valid until the vocabulary changes. */
static inline const char *graft_vocab_text(const struct graft_vocab *vocab, const struct graft_token *token) {
    return vocab->text.bytes + token->start;
}

void graft_vocab_free(struct graft_vocab *vocab);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "tokenizer/vocab.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

static uint64_t hash_text(const char *text, size_t length) {
    uint64_t hash = length;
    for (; length >= 8; text += 8, length -= 8) {
        uint64_t word;
        memcpy(&word, text, 8);
        hash = graft_map_mix(hash ^ word);
    }
    if (length > 0) {
        uint64_t word = 0;
        memcpy(&word, text, length);
        hash = graft_map_mix(hash ^ word);
    }
    return hash;
}

/* The slot of this text, or the free slot where it would go. */
static uint32_t *find_place(const struct graft_vocab *vocab, const char *text, size_t length) {
    size_t i = (size_t)hash_text(text, length) & (vocab->slots - 1);
    for (;; i = (i + 1) & (vocab->slots - 1)) {
        const struct graft_token *token;
        if (vocab->by_text[i] == 0) {
            return vocab->by_text + i;
        }
        token = &vocab->tokens[vocab->by_text[i] - 1];
        if (token->length == length && memcmp(vocab->text.bytes + token->start, text, length) == 0) {
            return vocab->by_text + i;
        }
    }
}

int graft_vocab_reserve(struct graft_vocab *vocab, size_t count) {
    size_t slots = 16;
    uint32_t *by_text;
    while (slots / 2 <= count && slots <= SIZE_MAX / 64) {
        slots *= 2;
    }
    if (slots <= vocab->slots) {
        return 0;
    }
    by_text = graft_alloc(slots, sizeof *by_text);
    if (by_text == NULL || graft_map_reserve(&vocab->by_id, count) != 0) {
        graft_free(by_text);
        return -1;
    }
    graft_free(vocab->by_text);
    vocab->by_text = by_text;
    vocab->slots = slots;
    for (size_t i = 0; i < vocab->count; i++) {
        const struct graft_token *token = &vocab->tokens[i];
        *find_place(vocab, vocab->text.bytes + token->start, token->length) = (uint32_t)(i + 1);
    }
    return 0;
}

int graft_vocab_add(struct graft_vocab *vocab, const char *text, size_t length, int32_t id) {
    struct graft_token token = {vocab->text.length, (uint32_t)length, id};
    if (length > UINT32_MAX || vocab->count >= INT32_MAX) {
        return -1;
    }
    if (vocab->count + 1 > vocab->slots / 2 && graft_vocab_reserve(vocab, vocab->count + 1) != 0) {
        return -1;
    }
    if (graft_grow(&vocab->tokens, &vocab->capacity, vocab->count, sizeof *vocab->tokens) != 0 ||
        graft_map_set(&vocab->by_id, (uint64_t)id, vocab->count) != 0) {
        return -1;
    }
    graft_text_add(&vocab->text, text, length);
    graft_text_add(&vocab->text, "", 1);
    if (vocab->text.failed) {
        return -1;
    }
    vocab->tokens[vocab->count++] = token;
    *find_place(vocab, text, length) = (uint32_t)vocab->count;
    return 0;
}

const struct graft_token *graft_vocab_find(const struct graft_vocab *vocab, const char *text, size_t length) {
    uint32_t index = vocab->slots == 0 ? 0 : *find_place(vocab, text, length);
    return index == 0 ? NULL : &vocab->tokens[index - 1];
}

const struct graft_token *graft_vocab_find_id(const struct graft_vocab *vocab, int32_t id) {
    const uint64_t *index = id < 0 ? NULL : graft_map_get(&vocab->by_id, (uint64_t)id);
    return index == NULL ? NULL : &vocab->tokens[*index];
}

void graft_vocab_free(struct graft_vocab *vocab) {
    graft_text_free(&vocab->text);
    graft_free(vocab->tokens);
    graft_free(vocab->by_text);
    graft_map_free(&vocab->by_id);
    *vocab = (struct graft_vocab){0};
}

int32_t graft_vocab_id(const struct graft_vocab *vocab, struct graft_text_view token) {
    const struct graft_token *found = token.text == NULL ? NULL : graft_vocab_find(vocab, token.text, token.length);
    return found != NULL ? found->id : -1;
}

void graft_vocab_byte_tokens(const struct graft_vocab *vocab, int32_t tokens[256]) {
    for (unsigned byte = 0; byte < 256; byte++) {
        char name[8];
        int length = snprintf(name, sizeof name, "<0x%02X>", byte);
        tokens[byte] = graft_vocab_id(vocab, (struct graft_text_view){name, (size_t)length});
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Answers questions about a tokenizer's tokens, and frees it. */
#include "graft/host/tokenizer.h"

#include <string.h>

#include "base/alloc.h"
#include "tokenizer/pipeline.h"

void graft_tokenizer_free(struct graft_tokenizer *tokenizer) {
    if (tokenizer == NULL) {
        return;
    }
    graft_decoder_destroy(tokenizer->decoder);
    graft_postprocessor_destroy(tokenizer->postprocessor);
    graft_added_finish(&tokenizer->added);
    graft_token_model_destroy(tokenizer->model);
    graft_vocab_free(&tokenizer->vocab);
    graft_pretokenizer_destroy(tokenizer->pretokenizer);
    graft_normalizer_destroy(tokenizer->normalizer);
    graft_text_free(&tokenizer->notes);
    graft_vocab_free(&tokenizer->named);
    graft_free(tokenizer->path);
    graft_free(tokenizer);
}

const char *graft_tokenizer_note(const struct graft_tokenizer *tokenizer, size_t i) {
    const struct graft_text *notes = &tokenizer->notes;
    size_t at = 0;
    for (; i > 0 && at < notes->length; i--) {
        at += strlen(notes->bytes + at) + 1;
    }
    return at < notes->length ? notes->bytes + at : NULL;
}

int32_t graft_tokenizer_id(const struct graft_tokenizer *tokenizer, const char *token) {
    const struct graft_token *found = graft_vocab_find(&tokenizer->added.vocab, token, strlen(token));
    if (found == NULL) {
        found = graft_vocab_find(&tokenizer->vocab, token, strlen(token));
    }
    return found != NULL ? found->id : -1;
}

int32_t graft_tokenizer_named_id(const struct graft_tokenizer *tokenizer, const char *name) {
    const struct graft_token *found = graft_vocab_find(&tokenizer->named, name, strlen(name));
    return found != NULL ? found->id : -1;
}

const char *graft_tokenizer_token(const struct graft_tokenizer *tokenizer, int32_t id, size_t *length) {
    const struct graft_vocab *vocab = &tokenizer->added.vocab;
    const struct graft_token *token = graft_vocab_find_id(vocab, id);
    if (token == NULL) {
        vocab = &tokenizer->vocab;
        token = graft_vocab_find_id(vocab, id);
    }
    if (token == NULL) {
        return NULL;
    }
    if (length != NULL) {
        *length = token->length;
    }
    return graft_vocab_text(vocab, token);
}

int graft_tokenizer_is_special(const struct graft_tokenizer *tokenizer, int32_t id) {
    return graft_added_is_special(&tokenizer->added, id);
}

size_t graft_tokenizer_size(const struct graft_tokenizer *tokenizer) {
    return tokenizer->size;
}

int32_t graft_tokenizer_max_id(const struct graft_tokenizer *tokenizer) {
    return tokenizer->max_id;
}

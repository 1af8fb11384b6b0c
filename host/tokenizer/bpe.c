/* SPDX-License-Identifier: Apache-2.0 */
/* BPE: from a word to its first symbols, the characters; merging them is bpe_merge.c's. */
#include "tokenizer/bpe.h"

#include "base/fail.h"
#include "tokenizer/utf8.h"

/* Adds the tokens of the character's bytes, if there is one for each. */
static int add_bytes(const struct graft_bpe *bpe, const char *bytes, size_t n, struct graft_merge_work *work) {
    for (size_t i = 0; i < n; i++) {
        if (bpe->byte_tokens[(unsigned char)bytes[i]] < 0) {
            return 0;
        }
    }
    for (size_t i = 0; i < n; i++) {
        graft_merge_add(work, bpe->byte_tokens[(unsigned char)bytes[i]]);
    }
    return 1;
}

/* A character that is no token, nor are its bytes. Without an unknown token it vanishes, as in the reference. An
 * unknown token is held back in `*pending`, because one that follows may fuse with it. */
static int add_unknown(const struct graft_bpe *bpe, int *pending, struct graft_merge_work *work,
                       struct graft_error *error) {
    if (!bpe->has_unk) {
        return GRAFT_OK;
    }
    if (bpe->unk < 0) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, bpe->file,
                               "model.unk_token: not in the vocabulary, but needed for this text");
    }
    if (*pending && !bpe->fuse_unk) {
        graft_merge_add(work, bpe->unk);
    }
    *pending = 1;
    return GRAFT_OK;
}

static int add_characters(const struct graft_bpe *bpe, const char *word, size_t length, struct graft_merge_work *work,
                          struct graft_error *error) {
    int pending = 0;
    for (size_t at = 0; at < length;) {
        uint32_t code;
        size_t n = graft_utf8_read(word + at, &code);
        const struct graft_token *token = graft_vocab_find(bpe->vocab, word + at, n);
        if (token != NULL) {
            if (pending) {
                graft_merge_add(work, bpe->unk);
                pending = 0;
            }
            graft_merge_add(work, token->id);
        } else if (!bpe->byte_fallback || !add_bytes(bpe, word + at, n, work)) {
            int status = add_unknown(bpe, &pending, work, error);
            if (status != GRAFT_OK) {
                return status;
            }
        }
        at += n;
    }
    if (pending) {
        graft_merge_add(work, bpe->unk);
    }
    return GRAFT_OK;
}

int graft_bpe_encode(const struct graft_token_model *self, const char *word, size_t length,
                     struct graft_merge_work *work, struct graft_ids *out, struct graft_error *error) {
    const struct graft_bpe *bpe = (const struct graft_bpe *)self;
    if (bpe->ignore_merges) {
        const struct graft_token *whole = graft_vocab_find(bpe->vocab, word, length);
        if (whole != NULL) {
            graft_ids_add(out, whole->id);
            return GRAFT_OK;
        }
    }
    graft_merge_begin(work);
    int status = add_characters(bpe, word, length, work, error);
    if (status != GRAFT_OK) {
        return status;
    }
    graft_merge_finish(work, &bpe->merges, out);
    return work->failed ? graft_fail_memory(error, "BPE") : GRAFT_OK;
}

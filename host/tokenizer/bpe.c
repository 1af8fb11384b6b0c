/* SPDX-License-Identifier: Apache-2.0 */
/* BPE: splits a word into its characters, the first symbols; bpe_merge.c merges them. */
#include "tokenizer/bpe.h"

#include "base/fail.h"
#include "base/utf8.h"

/* Adds one token for each byte of a character, if the vocabulary has tokens for all of them. */
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

/* Handles a character that is not in the vocabulary and whose bytes are not either. Without an unknown token the
 * character is dropped, as in the reference. An unknown token is held back in `*pending`, because the next one may fuse
 * with it. */
static int add_unknown(const struct graft_bpe *bpe, int *pending, struct graft_merge_work *work,
                       struct graft_error *error) {
    if (!bpe->has_unk) {
        return GRAFT_OK;
    }
    if (bpe->unk < 0) {
        return graft_unk_token_needed(bpe->file, error);
    }
    if (*pending && !bpe->fuse_unk) {
        graft_merge_add(work, bpe->unk);
    }
    *pending = 1;
    return GRAFT_OK;
}

/* Spelling of the character `[at, end)` of the word in the vocabulary: with the prefix, unless it is the word's first,
 * and with the suffix if it is the last. */
static struct graft_text_view spell(const struct graft_bpe *bpe, const char *word, size_t length, size_t at, size_t end,
                                    struct graft_text *scratch) {
    size_t prefix = at > 0 ? bpe->prefix.length : 0, suffix = end == length ? bpe->suffix.length : 0;
    if (prefix == 0 && suffix == 0) {
        return (struct graft_text_view){word + at, end - at};
    }
    scratch->length = 0;
    graft_text_add(scratch, bpe->prefix.bytes, prefix);
    graft_text_add(scratch, word + at, end - at);
    graft_text_add(scratch, bpe->suffix.bytes, suffix);
    return (struct graft_text_view){scratch->bytes, scratch->failed ? 0 : scratch->length};
}

static int add_characters(const struct graft_bpe *bpe, const char *word, size_t length, struct graft_model_work *work,
                          struct graft_error *error) {
    struct graft_merge_work *merge = &work->merge;
    int pending = 0;
    for (size_t at = 0; at < length;) {
        uint32_t code;
        size_t end = at + graft_utf8_read(word + at, &code);
        struct graft_text_view character = spell(bpe, word, length, at, end, &work->scratch);
        int32_t id = graft_vocab_id(bpe->vocab, character);
        if (id >= 0) {
            if (pending) {
                graft_merge_add(merge, bpe->unk);
                pending = 0;
            }
            graft_merge_add(merge, id);
        } else if (!bpe->byte_fallback || !add_bytes(bpe, character.text, character.length, merge)) {
            int status = add_unknown(bpe, &pending, merge, error);
            if (status != GRAFT_OK) {
                return status;
            }
        }
        at = end;
    }
    if (pending) {
        graft_merge_add(merge, bpe->unk);
    }
    return GRAFT_OK;
}

int graft_bpe_encode(const struct graft_token_model *self, const char *word, size_t length,
                     struct graft_model_work *work, struct graft_ids *out, struct graft_error *error) {
    const struct graft_bpe *bpe = (const struct graft_bpe *)self;
    if (bpe->ignore_merges) {
        const struct graft_token *whole = graft_vocab_find(bpe->vocab, word, length);
        if (whole != NULL) {
            graft_ids_add(out, whole->id);
            return GRAFT_OK;
        }
    }
    graft_merge_begin(&work->merge);
    int status = add_characters(bpe, word, length, work, error);
    if (status != GRAFT_OK) {
        return status;
    }
    graft_merge_finish(&work->merge, &bpe->merges, out);
    return work->merge.failed || work->scratch.failed ? graft_fail_memory(error, "BPE") : GRAFT_OK;
}

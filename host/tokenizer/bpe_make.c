/* SPDX-License-Identifier: Apache-2.0 */
/* Making a BPE model from a vocabulary and merges. */
#include "base/alloc.h"
#include "base/fail.h"
#include "tokenizer/bpe.h"
#include "tokenizer/model_make.h"

static void destroy(struct graft_token_model *self) {
    struct graft_bpe *bpe = (struct graft_bpe *)self;
    graft_map_free(&bpe->merges);
    graft_text_free(&bpe->prefix);
    graft_text_free(&bpe->suffix);
    graft_text_free(&bpe->merged);
    graft_free(bpe->file);
    graft_free(bpe);
}

int graft_bpe_create(const char *file, const struct graft_vocab *vocab, const struct graft_bpe_settings *settings,
                     struct graft_token_model **made, struct graft_error *error) {
    struct graft_bpe *bpe = graft_alloc(1, sizeof *bpe);
    if (bpe == NULL) {
        return graft_fail_memory(error, file);
    }
    bpe->base.encode = graft_bpe_encode;
    bpe->base.destroy = destroy;
    bpe->vocab = vocab;
    bpe->has_unk = settings->unk_token.text != NULL;
    bpe->unk = graft_vocab_id(vocab, settings->unk_token);
    bpe->ignore_merges = settings->ignore_merges;
    bpe->byte_fallback = settings->byte_fallback;
    bpe->fuse_unk = settings->fuse_unk;
    graft_vocab_byte_tokens(vocab, bpe->byte_tokens);
    graft_text_add(&bpe->prefix, settings->continuing_subword_prefix.text, settings->continuing_subword_prefix.length);
    graft_text_add(&bpe->suffix, settings->end_of_word_suffix.text, settings->end_of_word_suffix.length);
    bpe->file = graft_strdup(file);
    if (bpe->file == NULL || bpe->prefix.failed || bpe->suffix.failed) {
        destroy(&bpe->base);
        return graft_fail_memory(error, file);
    }
    *made = &bpe->base;
    return GRAFT_OK;
}

int graft_bpe_reserve_merges(struct graft_token_model *bpe, size_t n) {
    return graft_map_reserve(&((struct graft_bpe *)bpe)->merges, n);
}

static int32_t require(const struct graft_bpe *bpe, struct graft_text_view token, struct graft_text *missing) {
    int32_t id = graft_vocab_id(bpe->vocab, token);
    if (id < 0 && missing->length == 0) {
        graft_text_add(missing, token.text, token.length);
    }
    return id;
}

int graft_bpe_add_merge(struct graft_token_model *bpe, struct graft_text_view left, struct graft_text_view right,
                        struct graft_text *missing) {
    struct graft_bpe *model = (struct graft_bpe *)bpe;
    struct graft_text *merged = &model->merged;
    size_t cut = model->prefix.length < right.length ? model->prefix.length : right.length;
    int32_t left_id = require(model, left, missing), right_id = require(model, right, missing);
    /* The second token's continuing prefix is dropped where the two are joined. */
    merged->length = 0;
    graft_text_add(merged, left.text, left.length);
    graft_text_add(merged, right.text + cut, right.length - cut);
    if (merged->failed) {
        return -1;
    }
    int32_t merged_id = require(model, (struct graft_text_view){merged->bytes, merged->length}, missing);
    if (left_id < 0 || right_id < 0 || merged_id < 0) {
        return missing->failed ? -1 : 1;
    }
    uint64_t value = graft_merge_value(model->n_merges++, merged_id);
    return graft_map_set(&model->merges, graft_merge_key(left_id, right_id), value);
}

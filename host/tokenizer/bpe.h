/* SPDX-License-Identifier: Apache-2.0 */
/* The data of a BPE model, which bpe_make.c builds and bpe.c encodes with. */
#ifndef GRAFT_TOKENIZER_BPE_H
#define GRAFT_TOKENIZER_BPE_H

#include "tokenizer/model.h"

struct graft_bpe {
    struct graft_token_model base;
    const struct graft_vocab *vocab;
    struct graft_map merges;
    uint32_t n_merges;        /* number of merges so far, which is the rank of the next one */
    struct graft_text merged; /* scratch for the text of a merged token, while merges are added */
    struct graft_text prefix; /* continuing_subword_prefix: precedes every character but a word's first */
    struct graft_text suffix; /* end_of_word_suffix: follows a word's last character */
    int ignore_merges;
    int byte_fallback;
    int fuse_unk;
    int has_unk;
    int32_t unk;              /* the id of the unknown token; -1: the vocabulary has none */
    int32_t byte_tokens[256]; /* ids of "<0x00>" to "<0xFF>"; -1: the vocabulary lacks it */
    char *file;               /* named in errors of encoding */
};

/* [any] `encode` of a BPE model's graft_token_model. */
int graft_bpe_encode(const struct graft_token_model *self, const char *word, size_t length,
                     struct graft_model_work *work, struct graft_ids *out, struct graft_error *error);

#endif

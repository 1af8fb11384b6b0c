/* SPDX-License-Identifier: Apache-2.0 */
/* The BPE model's data: what bpe_make.c makes and bpe.c encodes with. */
#ifndef GRAFT_TOKENIZER_BPE_H
#define GRAFT_TOKENIZER_BPE_H

#include "tokenizer/model.h"

struct graft_bpe {
    struct graft_token_model base;
    const struct graft_vocab *vocab;
    struct graft_map merges;
    uint32_t n_merges;        /* the next one's rank */
    struct graft_text merged; /* memory for what a merge becomes, while merges are added */
    struct graft_text prefix; /* of every character but a word's first */
    struct graft_text suffix; /* of a word's last character */
    int ignore_merges;
    int byte_fallback;
    int fuse_unk;
    int has_unk;
    int32_t unk;              /* -1 when the vocabulary lacks the unknown token */
    int32_t byte_tokens[256]; /* ids of "<0x00>" to "<0xFF>", -1 where there is none */
    char *file;               /* for errors that a text brings out */
};

/* [any] graft_token_model.encode of a BPE model. */
int graft_bpe_encode(const struct graft_token_model *self, const char *word, size_t length,
                     struct graft_model_work *work, struct graft_ids *out, struct graft_error *error);

#endif

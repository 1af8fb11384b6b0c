/* SPDX-License-Identifier: Apache-2.0 */
/* The BPE model's data: what bpe_load.c reads and bpe.c encodes with. */
#ifndef GRAFT_TOKENIZER_BPE_H
#define GRAFT_TOKENIZER_BPE_H

#include "tokenizer/model.h"

struct graft_bpe {
    struct graft_token_model base;
    const struct graft_vocab *vocab;
    struct graft_map merges;
    int ignore_merges; /* a word that is a token is that token, merges or not */
    int byte_fallback; /* a character that is no token becomes its bytes' tokens */
    int fuse_unk;      /* neighbouring unknown characters are one unknown token */
    int has_unk;
    int32_t unk;              /* -1 when the unknown token has no id */
    int32_t byte_tokens[256]; /* ids of "<0x00>" to "<0xFF>", -1 where there is none */
    char *file;               /* for errors that a text brings out */
};

/* [any] graft_model.encode of a BPE model. */
int graft_bpe_encode(const struct graft_token_model *self, const char *word, size_t length,
                     struct graft_merge_work *work, struct graft_ids *out, struct graft_error *error);

#endif

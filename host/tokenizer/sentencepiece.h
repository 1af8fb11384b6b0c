/* SPDX-License-Identifier: Apache-2.0 */
/* A model of SentencePiece, as its trainer writes it (sentencepiece_model.proto): pieces with scores and kinds, and the
 * settings of trainer and normalizer that transformers reads. */
#ifndef GRAFT_TOKENIZER_SENTENCEPIECE_H
#define GRAFT_TOKENIZER_SENTENCEPIECE_H

#include <stddef.h>
#include <stdint.h>

#include "graft/error.h"

/* SentencePiece.Type */
enum { GRAFT_PIECE_NORMAL = 1, GRAFT_PIECE_CONTROL = 3, GRAFT_PIECE_USER_DEFINED = 4 };

/* TrainerSpec.ModelType */
enum { GRAFT_SENTENCEPIECE_UNIGRAM = 1 };

/* Bytes of the file; UTF-8 where it is text. */
struct graft_piece_text {
    const char *text;
    size_t length;
};

struct graft_sentence_piece {
    struct graft_piece_text text; /* without NUL bytes */
    float score;
    int32_t type;
};

/* Starts as {0}. */
struct graft_sentencepiece {
    char *bytes;                         /* the whole file */
    struct graft_sentence_piece *pieces; /* [n] by id */
    size_t n;
    size_t capacity;
    int32_t model_type;
    int byte_fallback;
    int32_t unk_id, bos_id, eos_id; /* negative: there is none */
    struct graft_piece_text unk_piece, bos_piece, eos_piece;
    struct graft_piece_text charsmap; /* precompiled; empty: none */
};

/* [load] Reads a model. Errors are GRAFT_ERROR_MODEL, and give the offset of malformed bytes. The caller finishes it,
 * even on failure. */
int graft_sentencepiece_read(struct graft_sentencepiece *model, const char *path, struct graft_error *error);
void graft_sentencepiece_finish(struct graft_sentencepiece *model);

#endif

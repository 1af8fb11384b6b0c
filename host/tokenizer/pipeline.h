/* SPDX-License-Identifier: Apache-2.0 */
/* The components of a tokenizer, in the order in which they process a text. */
#ifndef GRAFT_TOKENIZER_PIPELINE_H
#define GRAFT_TOKENIZER_PIPELINE_H

#include "graft/host/tokenizer.h"
#include "tokenizer/added.h"
#include "tokenizer/decoder.h"
#include "tokenizer/model.h"
#include "tokenizer/normalizer.h"
#include "tokenizer/postprocessor.h"
#include "tokenizer/pretokenizer.h"
#include "tokenizer/vocab.h"

struct graft_tokenizer {
    char *path; /* of the tokenizer.json */
    struct graft_added added;
    struct graft_normalizer *normalizer;
    struct graft_pretokenizer *pretokenizer;
    struct graft_vocab vocab;
    struct graft_token_model *model;
    struct graft_postprocessor *postprocessor;
    struct graft_decoder *decoder;
    int truncates_left;       /* a text that is too long is cut at its beginning */
    struct graft_vocab named; /* special tokens by name ("eos_token"), with their ids */
    struct graft_text notes;  /* each with a NUL after it */
    size_t size;
    int32_t max_id;
};

/* [any] Like graft_tokenizer_encode without special tokens, for valid UTF-8 in which no control token is recognised in
 * marked bytes. */
int graft_tokenizer_encode_marked(const struct graft_tokenizer *tokenizer, const char *text, size_t length,
                                  const struct graft_added_marks *marks, struct graft_ids *ids,
                                  struct graft_error *error);

#endif

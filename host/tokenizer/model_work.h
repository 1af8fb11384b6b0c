/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that is reused for all words of an encode, whatever the model. */
#ifndef GRAFT_TOKENIZER_MODEL_WORK_H
#define GRAFT_TOKENIZER_MODEL_WORK_H

#include "base/text.h"
#include "tokenizer/bpe_merge.h"

/* The best segmentation of a word's beginning up to one byte: its score and its last token. */
struct graft_path_node {
    double score;   /* sum of the scores of its tokens */
    uint32_t start; /* byte offset of the last token */
    int32_t id;     /* id of the last token; -1: no segmentation found yet */
};

/* Starts as {0}. */
struct graft_model_work {
    struct graft_merge_work merge;
    struct graft_path_node *path; /* of Unigram */
    size_t path_capacity;
    struct graft_text scratch;
};

void graft_model_work_free(struct graft_model_work *work);

#endif

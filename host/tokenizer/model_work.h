/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that the words of one encode share, whatever the model. */
#ifndef GRAFT_TOKENIZER_MODEL_WORK_H
#define GRAFT_TOKENIZER_MODEL_WORK_H

#include "base/text.h"
#include "tokenizer/bpe_merge.h"

/* The best way to cut the beginning of a word that ends at some byte: the last token of it. */
struct graft_path_node {
    double score;   /* of all its tokens */
    uint32_t start; /* of the last token, in bytes */
    int32_t id;     /* of the last token; -1 while no way is known */
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

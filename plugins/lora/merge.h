/* SPDX-License-Identifier: Apache-2.0 */
/* W + factor * B A, a weight of its own. */
#ifndef LORA_MERGE_H
#define LORA_MERGE_H

#include "graft/kernels.h"
#include "graft/threads.h"

struct lora_merged {
    struct graft_weight weight;     /* [out_features, in_features]; no rows: nothing was merged */
    struct graft_row_block *blocks; /* [weight.n_blocks]: the sums, and rows of the original between them */
    void **data;                    /* [n] of the sums */
    int32_t n;
    const struct graft_weight *bias; /* the original's, or NULL */
};

/* What is added to the rows of a weight from `first` on. */
struct lora_delta {
    struct graft_product a; /* lora_A [rank, in] */
    struct graft_product b; /* lora_B [rows, rank] */
    float factor;
    int64_t first;
};

/* [load] Whether all of a weight is F32, F16 or BF16; row `row` of one that is, as f32 [columns]. */
int lora_are_floats(const struct graft_weight *weight);
void lora_read_row(const struct graft_weight *weight, int64_t row, float *out);

/* [load] Merges with weights that are floats, in their own type (of F16 in F32); others are left alone. `deltas` are in
 * the order of rows and do not overlap. Whatever comes of it is to be finished. */
int lora_merge(const struct graft_product *original, const struct lora_delta *deltas, int32_t n,
               const struct graft_threads *threads, const char *path, struct lora_merged *merged,
               struct graft_error *error);
void lora_merged_finish(struct lora_merged *merged);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Computes W + factor * B A, or DoRA's rescaled sum, as a weight of its own. */
#ifndef LORA_MERGE_H
#define LORA_MERGE_H

#include "graft/threads.h"
#include "sums.h"

struct lora_merged {
    struct graft_weight weight;     /* [out_features, in_features]; no rows: nothing was merged */
    struct graft_row_block *blocks; /* [weight.n_blocks]: merged rows, and the original's rows between them */
    void **data;                    /* [n] memory of the merged rows */
    int32_t n;
    const struct graft_weight *bias; /* the original's, or NULL */
};

/* [load] Merges deltas with a weight of floats, in the weight's type (F16 becomes F32); other weights are left
 * unchanged. `deltas` are in the order of rows and do not overlap. The caller finishes it, even on failure. */
int lora_merge(const struct graft_product *original, const struct lora_delta *deltas, int32_t n,
               const struct graft_threads *threads, const char *path, struct lora_merged *merged,
               struct graft_error *error);
void lora_merged_finish(struct lora_merged *merged);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* W + factor * B A, a weight of its own. */
#ifndef LORA_MERGE_H
#define LORA_MERGE_H

#include "graft/kernels.h"
#include "graft/threads.h"

struct lora_merged {
    struct graft_weight weight; /* [out_features, in_features], one block; no rows: nothing was merged */
    struct graft_row_block block;
    void *data;                      /* of the block, freed with `free` */
    const struct graft_weight *bias; /* the original's, or NULL */
};

/* [load] Whether all of a weight is F32, F16 or BF16; row `row` of one that is, as f32 [columns]. */
int lora_are_floats(const struct graft_weight *weight);
void lora_read_row(const struct graft_weight *weight, int64_t row, float *out);

/* [load] Merges a pair with weights that are floats, in their own type (of F16 in F32); others are left alone. All
 * three are products: of the original, lora_A and lora_B. */
int lora_merge(const struct graft_product *original, const struct graft_product *a, const struct graft_product *b,
               float factor, const struct graft_threads *threads, const char *path, struct lora_merged *merged,
               struct graft_error *error);

#endif

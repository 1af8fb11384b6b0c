/* SPDX-License-Identifier: Apache-2.0 */
/* Coded weights as classes and kernels use them. */
#ifndef GRAFT_KERNELS_CODED_WEIGHT_H
#define GRAFT_KERNELS_CODED_WEIGHT_H

#include "graft/abi.h"
#include "graft/error.h"
#include "graft/kernels.h"
#include "kernels/coded/coded.h"

struct graft_coded_weight {
    struct graft_weight weight; /* passed to classes; its `codec` is the next field */
    struct graft_codec codec;
    struct graft_coded rows;                        /* all rows as they are stored */
    struct graft_weight codes, scales;              /* rows of codes, and of scales for each block of rows */
    struct graft_row_block *blocks;                 /* of both */
    void *code_memory, *scale_memory, *zero_memory; /* memory of arranged copies; else NULL */
};

/* [load] Makes a weight from a codec, after checking everything; errors name the module at `path`, and the tensor of
 * the group index by `index_name`. Codes that are not stored in rows are arranged, by the host's threads. */
int graft_coded_weight_create(const struct graft_codec *codec, const char *path, const char *index_name,
                              struct graft_coded_weight **weight, struct graft_error *error);

/* [load] Accepts NULL. */
void graft_coded_weight_free(struct graft_coded_weight *weight);

/* [load] Arranges codes that are in words along columns or rows; part of graft_coded_weight_create. */
int graft_coded_arrange(struct graft_coded_weight *weight, const char *path, struct graft_error *error);

/* [load] Arranges codes that are in strips, but not their scales: weight->codes becomes a weight with the single block
 * `block`. */
int graft_coded_arrange_strips(struct graft_coded_weight *weight, struct graft_row_block *block, const char *path,
                               struct graft_error *error);

/* [load] The number of codes in a stored number, for codes in strips; 0 if such codes cannot be in strips. */
static inline int64_t graft_coded_strips(int32_t bits) {
    return bits == 3 ? 10 : bits == 2 || bits == 4 || bits == 8 ? 8 / bits : 0;
}

/* [any] The coded weight that a weight belongs to; NULL if its blocks contain plain numbers. */
static inline const struct graft_coded_weight *graft_coded_weight_of(const struct graft_weight *weight) {
    return GRAFT_HAS(weight, struct graft_weight, codec) && weight->codec != NULL
               ? (const struct graft_coded_weight *)(const void *)weight
               : NULL;
}

/* --- product.c --- */

/* [forward] Implements graft_kernels.linear for products whose weights are all coded. */
int graft_coded_linear(const struct graft_call *call, const struct graft_product *const *products, int32_t n,
                       struct graft_error *error);

#endif

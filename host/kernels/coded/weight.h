/* SPDX-License-Identifier: Apache-2.0 */
/* Coded weights as kernels are given them. */
#ifndef GRAFT_KERNELS_CODED_WEIGHT_H
#define GRAFT_KERNELS_CODED_WEIGHT_H

#include "graft/abi.h"
#include "graft/error.h"
#include "graft/kernels.h"
#include "kernels/coded/coded.h"

struct graft_coded_weight {
    struct graft_weight weight; /* what classes are given; its `codec` is the next field */
    struct graft_codec codec;
    struct graft_coded rows;                        /* all rows as they are stored */
    struct graft_weight codes, scales;              /* a row for each stored row, or block of these */
    struct graft_row_block *blocks;                 /* of both */
    void *code_memory, *scale_memory, *zero_memory; /* what was arranged; else NULL */
};

/* [load] Makes a weight of what a codec says, after checking all of it; errors name the module at `path`, and the
 * tensor of the group index by its name. Codes that are not stored in rows are arranged by the host's threads. */
int graft_coded_weight_create(const struct graft_codec *codec, const char *path, const char *index_name,
                              struct graft_coded_weight **weight, struct graft_error *error);

/* [load] Accepts NULL. */
void graft_coded_weight_free(struct graft_coded_weight *weight);

/* [load] Arranges what the codec has in words along columns or along rows; part of graft_coded_weight_create. */
int graft_coded_arrange(struct graft_coded_weight *weight, const char *path, struct graft_error *error);

/* [load] Likewise codes in strips, and these alone: weight->codes becomes one of a single block, `block`. */
int graft_coded_arrange_strips(struct graft_coded_weight *weight, struct graft_row_block *block, const char *path,
                               struct graft_error *error);

/* [load] How many codes a stored number of codes in strips has; 0: there are none of so many bits. */
static inline int64_t graft_coded_strips(int32_t bits) {
    return bits == 3 ? 10 : bits == 2 || bits == 4 || bits == 8 ? 8 / bits : 0;
}

/* [any] The coded weight that a weight is; NULL: its blocks have its numbers. */
static inline const struct graft_coded_weight *graft_coded_weight_of(const struct graft_weight *weight) {
    return GRAFT_HAS(weight, struct graft_weight, codec) && weight->codec != NULL
               ? (const struct graft_coded_weight *)(const void *)weight
               : NULL;
}

/* --- product.c --- */

/* [forward] What graft_kernels.linear does, of products whose weights are all coded. */
int graft_coded_linear(const struct graft_call *call, const struct graft_product *const *products, int32_t n,
                       struct graft_error *error);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quantizing while a model is loaded: a custom operation that makes of a matrix, or of a stack of them, codes and
 * scales of groups of its columns. The plugin says how a group is quantized. Linked into it, from libgraft-sdk.a.
 */
#ifndef GRAFT_QUANTIZER_H
#define GRAFT_QUANTIZER_H

#include "custom_operation.h"
#include "dtype.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The `data` of such an operation. */
struct graft_quantizer {
    graft_dtype code_dtype;  /* of the first result, [.., rows, ceil(columns / slots)] */
    graft_dtype scale_dtype; /* of the second, [.., rows, groups] */
    int32_t slots;           /* codes of an element: 8 of 4 bits in an I32 */
    int32_t vectors;         /* 1: scales of a matrix with one group a row are [rows] */
    /* [any] Columns of a group of a row of so many; the last may have fewer. */
    int64_t (*group_size)(int64_t columns);
    /* [any] Quantizes weights [n], columns `first` and following of a row: adds their codes to `codes` [elements of a
     * row], zeros before, and sets the scale. 0: one of them is infinite or not a number. */
    int32_t (*quantize)(const float *weights, int64_t n, int64_t first, void *codes, void *scale);
};

GRAFT_ASSERT_SIZE(struct graft_quantizer, 32);

/* [any] How many groups a row of so many columns has. */
GRAFT_INLINE int64_t graft_quantizer_groups(const struct graft_quantizer *self, int64_t columns) {
    const int64_t size = self->group_size(columns);
    return (columns + size - 1) / size;
}

/* [any] How many elements its codes fill. */
GRAFT_INLINE int64_t graft_quantizer_elements(const struct graft_quantizer *self, int64_t columns) {
    return (columns + self->slots - 1) / self->slots;
}

/* [load] graft_custom_operation.infer: of one matrix or stack of them. */
int graft_quantizer_infer(const struct graft_custom_operation *self, const struct graft_custom_shapes *shapes,
                          struct graft_error *error);

/* [any] graft_custom_operation.apply. Rows are quantized by themselves. */
int graft_quantizer_apply(const struct graft_custom_operation *self, const struct graft_custom_work *work,
                          struct graft_error *error);

/* The initialisers of the operation. */
#define GRAFT_QUANTIZER_OPERATION(op_name, quantizer)                                           \
    .struct_size = sizeof(struct graft_custom_operation),                                       \
    .flags = GRAFT_CUSTOM_ROWS | GRAFT_CUSTOM_SEES_F32 | GRAFT_CUSTOM_LOSSY, .name = (op_name), \
    .infer = graft_quantizer_infer, .apply = graft_quantizer_apply, .data = (quantizer)

/* Which Linears quantizers take, as patterns of module paths. Decoders, experts that are modules, and vision MLPs call
 * them ..._proj, or ..._proj_with_mqa; what encoders and vision blocks call otherwise is taken inside their numbered
 * layers, or has a name like Wqkv. Routers and gates of shared experts are none of these. */
#define GRAFT_QUANTIZER_PROJECTIONS \
    "_proj(_\\w+)?$|\\.(layer|blocks)\\.\\d+\\..*\\b(query|key|value|dense|qkv|proj|fc1|fc2)$|\\bW(qkv|i|o)$"
/* The same of the language model head. */
#define GRAFT_QUANTIZER_HEAD "(^|\\.)lm_head$"

#ifdef __cplusplus
}
#endif

#endif

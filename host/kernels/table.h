/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that graft.kernels/1 consists of, one file for each family; sdk/include/graft/kernels.h says what they
 * do. */
#ifndef GRAFT_KERNELS_TABLE_H
#define GRAFT_KERNELS_TABLE_H

#include "graft/kernels.h"

/* [any] Whether kernels read each block's type of a weight; else an error that names it as `role`. */
int graft_check_types(const struct graft_weight *weight, const char *role, struct graft_error *error);

/* Loops over fewer numbers than this are not worth a second thread. */
enum { GRAFT_GRAIN_NUMBERS = 16384 };

/* The number of rows of `columns` elements that is worth handing to a thread. */
static inline int64_t graft_grain_rows(int64_t columns) {
    return columns >= GRAFT_GRAIN_NUMBERS ? 1 : GRAFT_GRAIN_NUMBERS / (columns > 0 ? columns : 1);
}

struct graft_transposed_source;

/* product.c */
int graft_linear(const struct graft_call *call, const struct graft_product *products, int32_t n,
                 uint32_t product_stride, struct graft_error *error);
int graft_linear_transposed(const struct graft_call *call, const struct graft_product *product,
                            const struct graft_transposed_source *source, int32_t *done, struct graft_error *error);

/* product_gated.c */
int graft_gated_linear(const struct graft_call *call, const struct graft_gated_products *mlps, int32_t n,
                       uint32_t stride, struct graft_error *error);

/* attention.c */
int graft_attention(const struct graft_call *call, const struct graft_attention_args *args, struct graft_error *error);

/* experts.c */
int graft_experts(const struct graft_call *call, const struct graft_experts_implementation *own,
                  const struct graft_experts_input *input, struct graft_error *error);

/* norm.c */
int graft_rms_norm(const struct graft_call *call, const struct graft_weight *weight, float offset, float eps,
                   const float *x, int64_t x_stride, int64_t tokens, int64_t columns, float *y, int64_t y_stride,
                   struct graft_error *error);
int graft_layer_norm(const struct graft_call *call, const struct graft_weight *weight, const struct graft_weight *bias,
                     float eps, const float *x, int64_t x_stride, int64_t tokens, int64_t columns, float *y,
                     int64_t y_stride, struct graft_error *error);

/* rope.c */
int graft_rope(const struct graft_call *call, const struct graft_rope_args *args, struct graft_error *error);

/* activation.c */
int graft_activation_check(int32_t activation, struct graft_error *error);
int graft_activation(const struct graft_call *call, int32_t activation, const float *x, int64_t count, float *y,
                     struct graft_error *error);
int graft_gated_activation(const struct graft_call *call, int32_t activation, float *gate, int64_t gate_stride,
                           const float *up, int64_t up_stride, int64_t tokens, int64_t columns,
                           struct graft_error *error);
int graft_add(const struct graft_call *call, float *x, const float *y, int64_t count, struct graft_error *error);

/* top_k.c */
int graft_softmax(const struct graft_call *call, float *x, int64_t rows, int64_t columns, struct graft_error *error);
int graft_top_k(const struct graft_call *call, const float *x, int64_t rows, int64_t columns, int64_t k, int32_t *index,
                float *values, struct graft_error *error);

/* row_loops.c */
int graft_embedding(const struct graft_call *call, const struct graft_weight *weight, const int32_t *ids,
                    int64_t tokens, float *y, struct graft_error *error);
int graft_gather_rows(const struct graft_call *call, const float *x, const int32_t *index, int64_t rows,
                      int64_t columns, float *y, struct graft_error *error);
int graft_scatter_add_rows(const struct graft_call *call, const float *x, const float *scale, const int32_t *index,
                           int64_t rows, int64_t columns, float *y, struct graft_error *error);
int graft_widen(const struct graft_call *call, const struct graft_weight *weight, float *out,
                struct graft_error *error);

#endif

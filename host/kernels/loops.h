/* SPDX-License-Identifier: Apache-2.0 */
/* The inner loops of the kernels, with a table for each instruction set. They are serial, allocate nothing, accept any
 * size from 0 on, and only require pointers to be aligned to their elements.
 *
 * An output of `dot` depends only on its weight row, its x row and `columns`: not on the other rows and tokens of the
 * call, nor on strides. The same holds for `dot_split` and `multiply`. */
#ifndef GRAFT_KERNELS_LOOPS_H
#define GRAFT_KERNELS_LOOPS_H

#include <stdint.h>

#include "graft/dtype.h"
#include "graft/kernels.h"

/* How stored elements are converted to f32. */
enum {
    GRAFT_READ_NONE = -1,       /* a type that no kernel reads: NaN */
    GRAFT_READ_F32 = 0,         /* unchanged */
    GRAFT_READ_F16 = 1,         /* widened */
    GRAFT_READ_BF16 = 2,        /* widened */
    GRAFT_READ_F32_AS_BF16 = 3, /* rounded to bf16, then widened */
    GRAFT_READ_F16_AS_BF16 = 4  /* widened, rounded to bf16, widened again */
};

/* The columns_ loops handle queries in multiples of this number. */
enum { GRAFT_LANES = 16 };

/* How many of GRAFT_ACTIVATION_... (graft/kernels.h) have loops here. It is not in that header, whose constants must
 * not change when activations are added. */
enum { GRAFT_ACTIVATIONS = GRAFT_ACTIVATION_RELU2 + 1 };

/* Columns of x for dot_split are padded to a multiple of this number. */
enum { GRAFT_SPLIT_COLUMNS = 32 };

/* Operands of y[t, r] = sum over k of x[t, k] * w[r, k], or with `add` y[t, r] += that. */
struct graft_pairs {
    const uint16_t *x; /* bf16: pair k of token t is at x + t * x_stride + k * x_step */
    int64_t x_stride;
    int64_t x_step; /* 2 where a token's numbers lie one after another */
    int64_t tokens;
    const uint32_t *w; /* [pairs, pack_rows] of `pack_pairs` */
    int64_t pairs;
    int64_t rows; /* 0 < rows <= pack_rows */
    float *y;     /* [tokens, rows] */
    int64_t y_stride;
    int32_t add;
};

struct graft_loops {
    int64_t pack_rows; /* the rows that `pack` interleaves, which `multiply` handles as columns */

    /* y[t, r] = sum over k of w[r, k] * x[t, k]. w [rows, columns] is stored as `reading` says; x [tokens, columns];
     * strides are in elements. Meanwhile as many bytes as w has are prefetched from `next`; NULL: the bytes after w. */
    void (*dot)(int32_t reading, const void *w, int64_t w_stride, int64_t rows, int64_t columns, const float *x,
                int64_t x_stride, int64_t tokens, float *y, int64_t y_stride, const void *next);

    /* Like `dot`, for bf16 weights, with x in the order in which widening yields the columns of w: `split` writes a
     * token's elements in that order, unchanged (GRAFT_READ_F32) or rounded (GRAFT_READ_F32_AS_BF16), padded with zeros
     * to a multiple of GRAFT_SPLIT_COLUMNS. NULL where this is not faster. */
    void (*split)(int32_t reading, const float *x, int64_t columns, float *out);
    void (*dot_split)(const uint16_t *w, int64_t w_stride, int64_t rows, int64_t columns, const float *x,
                      int64_t x_stride, int64_t tokens, float *y, int64_t y_stride);

    /* out [columns, pack_rows] = w transposed, as f32. w [rows, columns] with 0 < rows <= pack_rows; the columns of
     * `out` from `rows` on are zeros. */
    void (*pack)(int32_t reading, const void *w, int64_t w_stride, int64_t rows, int64_t columns, float *out);

    /* c[i, j] += sum over k of a[i * a_row + k * a_step] * b[k, j]. b [depth, columns] is f32, f16 or bf16, as
     * `reading` says; c [rows, columns]. Meanwhile as many bytes as b has are prefetched from `next`; NULL: none. */
    void (*multiply)(const float *a, int64_t a_row, int64_t a_step, int64_t rows, int32_t reading, const void *b,
                     int64_t b_stride, int64_t depth, int64_t columns, float *c, int64_t c_stride, const void *next);

    /* `pack` and `multiply` in bf16, for instructions that multiply two elements at once; NULL where there are none.
     * The scalar form is a reference for tests and not used otherwise. Each product of a pair is added to its sum by an
     * operation that rounds once, the odd element's first; denormals may count as zeros. out [columns / 2 rounded up,
     * pack_rows] = pairs of w's columns, transposed; missing elements are 0. */
    void (*pack_pairs)(const uint16_t *w, int64_t w_stride, int64_t rows, int64_t columns, uint32_t *out);
    void (*multiply_pairs)(const struct graft_pairs *operands);
    /* out[i] = the pair of even[i] and odd[i], or of even[i] and 0 if `odd` is NULL: GRAFT_READ_BF16, or GRAFT_READ_F32
     * for numbers to be rounded. */
    void (*pair)(int32_t reading, const void *even, const void *odd, int64_t count, uint32_t *out);

    /* out[i] = source[i] as `reading` says. */
    void (*widen)(int32_t reading, const void *source, int64_t count, float *out);
    /* out[i] = x[i] rounded to bf16. */
    void (*narrow)(const float *x, int64_t count, uint16_t *out);

    float (*sum_of_squares)(const float *x, int64_t count);
    /* y[i] = (weight[i] + offset) * (x[i] * factor); y may be x. */
    void (*scale_by)(int32_t reading, const void *weight, float offset, const float *x, float factor, int64_t count,
                     float *y);
    float (*sum)(const float *x, int64_t count);
    /* Multiplies and adds in registers only, as fast as possible; returns the number of multiply-adds done in `rounds`
     * rounds. Writing `*sink` keeps the compiler from dropping them. */
    int64_t (*multiply_add)(int64_t rounds, float *sink);
    /* y[i] = x[i] - middle; returns the sum of y's squares. y may be x. */
    float (*centre)(const float *x, float middle, int64_t count, float *y);
    /* y[i] += source[i] as `reading` says. */
    void (*add_stored)(int32_t reading, const void *source, int64_t count, float *y);
    /* (a, b) <- (a cos - b sin, b cos + a sin); cos and sin [2 * half], a's come first. */
    void (*rotate)(float *a, float *b, const float *cos, const float *sin, int64_t half);
    /* y[i] = act(x[i]) for an activation below GRAFT_ACTIVATIONS; y may be x. */
    void (*activate)(int32_t activation, const float *x, int64_t count, float *y);
    /* gate[i] = act(gate[i]) * up[i] */
    void (*activate_gate)(int32_t activation, float *gate, const float *up, int64_t count);
    /* y[i] += factor * x[i], product and sum rounded separately: with a factor of 1 it is an addition. */
    void (*add_scaled)(float *y, float factor, const float *x, int64_t count);
    void (*scale)(float *x, float factor, int64_t count);

    /* The largest number; -inf of none. */
    float (*maximum)(const float *x, int64_t count);
    /* x[i] = exp(x[i] - shift); returns their sum. */
    float (*exp_sum)(float *x, float shift, int64_t count);

    /* One step of an online softmax down each column, over rows that come in portions. scores [rows, columns], with
     * columns a multiple of GRAFT_LANES, become exp(scores - maximum); `maximum` and `sum` [columns] are updated;
     * `factor` [columns] becomes the factor for results of earlier portions. */
    void (*columns_softmax)(float *scores, int64_t rows, int64_t columns, float *maximum, float *sum, float *factor);
    /* The same, with exp(scores - maximum) as pairs of rows, the last of which may lack the odd one: out [columns /
     * pack_rows rounded up, rows / 2 rounded up, pack_rows]. `scores` are not changed. NULL where `pair` is. */
    void (*columns_softmax_pairs)(const float *scores, int64_t rows, int64_t columns, float *maximum, float *sum,
                                  float *factor, uint32_t *out);
    /* x[i, j] *= factor[j]; x [rows, columns], columns a multiple of GRAFT_LANES. */
    void (*columns_scale)(float *x, int64_t rows, int64_t columns, const float *factor);
};

/* [any] The table for graft_cpu_isa(). */
const struct graft_loops *graft_loops_get(void);

extern const struct graft_loops graft_loops_scalar;
extern const struct graft_loops graft_loops_avx2;
extern const struct graft_loops graft_loops_avx512;
extern const struct graft_loops graft_loops_avx512_bf16;
extern const struct graft_loops graft_loops_neon;

/* [any] The reading of weights of `dtype`; GRAFT_READ_NONE if no kernel reads the type. */
int32_t graft_reading_of(graft_dtype dtype);

/* [any] The same with rounding to bf16 on the way. */
int32_t graft_reading_rounded(int32_t reading);

/* [any] Bytes of one stored element. */
static inline int64_t graft_reading_size(int32_t reading) {
    return reading == GRAFT_READ_F32 || reading == GRAFT_READ_F32_AS_BF16 ? 4 : 2;
}

#endif

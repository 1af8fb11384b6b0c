/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inner loops on vectors of VF_WIDTH floats. Included once by each loops_ISA.c, after the header that defines the
 * vectors, so that one text serves every instruction set.
 */
#ifndef GRAFT_KERNELS_SIMD_LOOPS_H
#define GRAFT_KERNELS_SIMD_LOOPS_H

#include <math.h>

#include "kernels/loops.h"
#include "kernels/simd_math.h"
#include "kernels/simd_product.h"
#include "kernels/simd_read.h"
#include "kernels/simd_split.h"

INLINE void widen_with(const int32_t reading, const void *source, int64_t count, float *out) {
    int64_t i = 0;
    for (; i + VF_WIDTH <= count; i += VF_WIDTH) {
        vf_store(out + i, vf_read(reading, source, i));
    }
    if (i < count) {
        vf_store_part(out + i, vf_read_part(reading, source, i, count - i), count - i);
    }
}

static void widen(int32_t reading, const void *source, int64_t count, float *out) {
    switch (reading) {
    case GRAFT_READ_F32:
        widen_with(GRAFT_READ_F32, source, count, out);
        break;
    case GRAFT_READ_F16:
        widen_with(GRAFT_READ_F16, source, count, out);
        break;
    case GRAFT_READ_BF16:
        widen_with(GRAFT_READ_BF16, source, count, out);
        break;
    case GRAFT_READ_F32_AS_BF16:
        widen_with(GRAFT_READ_F32_AS_BF16, source, count, out);
        break;
    case GRAFT_READ_F16_AS_BF16:
        widen_with(GRAFT_READ_F16_AS_BF16, source, count, out);
        break;
    default:
        graft_loops_scalar.widen(reading, source, count, out);
        break;
    }
}

static void narrow(const float *x, int64_t count, uint16_t *out) {
    int64_t i = 0;
    for (; i + VF_WIDTH <= count; i += VF_WIDTH) {
        vf_store_bf16_part(out + i, vf_load(x + i), VF_WIDTH);
    }
    if (i < count) {
        vf_store_bf16_part(out + i, vf_load_part(x + i, count - i), count - i);
    }
}

/* Two vectors of sums hide the latency of the additions. */
static float sum_of_squares(const float *x, int64_t count) {
    vf even = vf_zero();
    vf odd = vf_zero();
    int64_t i = 0;
    for (; i + 2 * VF_WIDTH <= count; i += 2 * VF_WIDTH) {
        vf a = vf_load(x + i);
        vf b = vf_load(x + i + VF_WIDTH);
        even = vf_fma(a, a, even);
        odd = vf_fma(b, b, odd);
    }
    for (; i < count; i += VF_WIDTH) {
        vf a = vf_load_part(x + i, count - i < VF_WIDTH ? count - i : VF_WIDTH);
        even = vf_fma(a, a, even);
    }
    return vf_sum(vf_add(even, odd));
}

INLINE void scale_with(const int32_t reading, const void *weight, float offset, const float *x, float factor,
                       int64_t count, float *y) {
    int64_t i = 0;
    for (; i + VF_WIDTH <= count; i += VF_WIDTH) {
        vf scale = vf_add(vf_read(reading, weight, i), vf_set(offset));
        vf_store(y + i, vf_mul(scale, vf_mul(vf_load(x + i), vf_set(factor))));
    }
    if (i < count) {
        vf scale = vf_add(vf_read_part(reading, weight, i, count - i), vf_set(offset));
        vf_store_part(y + i, vf_mul(scale, vf_mul(vf_load_part(x + i, count - i), vf_set(factor))), count - i);
    }
}

static void scale_by(int32_t reading, const void *weight, float offset, const float *x, float factor, int64_t count,
                     float *y) {
    switch (reading) {
    case GRAFT_READ_F32:
        scale_with(GRAFT_READ_F32, weight, offset, x, factor, count, y);
        break;
    case GRAFT_READ_F16:
        scale_with(GRAFT_READ_F16, weight, offset, x, factor, count, y);
        break;
    case GRAFT_READ_BF16:
        scale_with(GRAFT_READ_BF16, weight, offset, x, factor, count, y);
        break;
    default:
        graft_loops_scalar.scale_by(reading, weight, offset, x, factor, count, y);
        break;
    }
}

static float sum(const float *x, int64_t count) {
    vf even = vf_zero();
    vf odd = vf_zero();
    int64_t i = 0;
    for (; i + 2 * VF_WIDTH <= count; i += 2 * VF_WIDTH) {
        even = vf_add(even, vf_load(x + i));
        odd = vf_add(odd, vf_load(x + i + VF_WIDTH));
    }
    for (; i < count; i += VF_WIDTH) {
        even = vf_add(even, vf_load_part(x + i, count - i < VF_WIDTH ? count - i : VF_WIDTH));
    }
    return vf_sum(vf_add(even, odd));
}

/* Twelve sums hide how long each step takes; with two factors they fill the registers of AVX2. */
static int64_t multiply_add(int64_t rounds, float *sink) {
    enum { SUMS = 12 };
    const vf factor = vf_set(0.5f), term = vf_set(*sink);
    vf sums[SUMS];
    for (int i = 0; i < SUMS; i++) {
        sums[i] = vf_set((float)i);
    }
    for (int64_t round = 0; round < rounds; round++) {
        for (int i = 0; i < SUMS; i++) {
            sums[i] = vf_fma(sums[i], factor, term);
        }
    }
    for (int i = 1; i < SUMS; i++) {
        sums[0] = vf_add(sums[0], sums[i]);
    }
    *sink = vf_sum(sums[0]);
    return rounds * SUMS * VF_WIDTH;
}

static float centre(const float *x, float middle, int64_t count, float *y) {
    int64_t i = 0;
    for (; i + VF_WIDTH <= count; i += VF_WIDTH) {
        vf_store(y + i, vf_sub(vf_load(x + i), vf_set(middle)));
    }
    if (i < count) {
        vf_store_part(y + i, vf_sub(vf_load_part(x + i, count - i), vf_set(middle)), count - i);
    }
    return sum_of_squares(y, count);
}

INLINE void add_with(const int32_t reading, const void *source, int64_t count, float *y) {
    int64_t i = 0;
    for (; i + VF_WIDTH <= count; i += VF_WIDTH) {
        vf_store(y + i, vf_add(vf_load(y + i), vf_read(reading, source, i)));
    }
    if (i < count) {
        vf rest = vf_read_part(reading, source, i, count - i);
        vf_store_part(y + i, vf_add(vf_load_part(y + i, count - i), rest), count - i);
    }
}

static void add_stored(int32_t reading, const void *source, int64_t count, float *y) {
    switch (reading) {
    case GRAFT_READ_F32:
        add_with(GRAFT_READ_F32, source, count, y);
        break;
    case GRAFT_READ_F16:
        add_with(GRAFT_READ_F16, source, count, y);
        break;
    case GRAFT_READ_BF16:
        add_with(GRAFT_READ_BF16, source, count, y);
        break;
    default:
        graft_loops_scalar.add_stored(reading, source, count, y);
        break;
    }
}

/* Products and sums are rounded one by one, as the reference does. */
INLINE void rotate_part(float *a, float *b, const float *cos, const float *sin, int64_t half, int64_t i, int64_t n) {
    vf first = vf_load_part(a + i, n);
    vf second = vf_load_part(b + i, n);
    vf turned = vf_mul(second, vf_load_part(sin + i, n));
    vf turned_back = vf_mul(first, vf_load_part(sin + half + i, n));
    vf_store_part(a + i, vf_sub(vf_mul(first, vf_load_part(cos + i, n)), turned), n);
    vf_store_part(b + i, vf_add(vf_mul(second, vf_load_part(cos + half + i, n)), turned_back), n);
}

static void rotate(float *a, float *b, const float *cos, const float *sin, int64_t half) {
    int64_t i = 0;
    for (; i + VF_WIDTH <= half; i += VF_WIDTH) {
        rotate_part(a, b, cos, sin, half, i, VF_WIDTH);
    }
    if (i < half) {
        rotate_part(a, b, cos, sin, half, i, half - i);
    }
}

static void add_scaled(float *y, float factor, const float *x, int64_t count) {
    int64_t i = 0;
    for (; i + VF_WIDTH <= count; i += VF_WIDTH) {
        vf_store(y + i, vf_add(vf_load(y + i), vf_mul(vf_set(factor), vf_load(x + i))));
    }
    if (i < count) {
        vf product = vf_mul(vf_set(factor), vf_load_part(x + i, count - i));
        vf_store_part(y + i, vf_add(vf_load_part(y + i, count - i), product), count - i);
    }
}

static void scale(float *x, float factor, int64_t count) {
    int64_t i = 0;
    for (; i + VF_WIDTH <= count; i += VF_WIDTH) {
        vf_store(x + i, vf_mul(vf_load(x + i), vf_set(factor)));
    }
    if (i < count) {
        vf_store_part(x + i, vf_mul(vf_load_part(x + i, count - i), vf_set(factor)), count - i);
    }
}

static float maximum(const float *x, int64_t count) {
    vf lanes = vf_set(-INFINITY);
    int64_t i = 0;
    for (; i + VF_WIDTH <= count; i += VF_WIDTH) {
        lanes = vf_max(vf_load(x + i), lanes);
    }
    float largest = vf_largest(lanes);
    for (; i < count; i++) {
        largest = x[i] > largest ? x[i] : largest;
    }
    return largest;
}

static float exp_sum(float *x, float shift, int64_t count) {
    vf sum = vf_zero();
    int64_t i = 0;
    for (; i + VF_WIDTH <= count; i += VF_WIDTH) {
        vf e = vf_exp(vf_sub(vf_load(x + i), vf_set(shift)));
        vf_store(x + i, e);
        sum = vf_add(sum, e);
    }
    if (i < count) {
        vf_store_part(x + i, vf_exp(vf_sub(vf_load_part(x + i, count - i), vf_set(shift))), count - i);
        sum = vf_add(sum, vf_load_part(x + i, count - i));
    }
    return vf_sum(sum);
}

/* The scalar form says what happens to columns of nothing but -inf. */
static void columns_softmax(float *scores, int64_t rows, int64_t columns, float *maxima, float *sum, float *factor) {
    const vf hidden = vf_set(-INFINITY);
    for (int64_t j = 0; j < columns; j += VF_WIDTH) {
        vf before = vf_load(maxima + j);
        vf largest = before;
        for (int64_t i = 0; i < rows; i++) {
            largest = vf_max(vf_load(scores + i * columns + j), largest);
        }
        vf shift = vf_if_equal(largest, hidden, vf_zero(), largest);
        vf total = vf_zero();
        for (int64_t i = 0; i < rows; i++) {
            vf e = vf_exp(vf_sub(vf_load(scores + i * columns + j), shift));
            vf_store(scores + i * columns + j, e);
            total = vf_add(total, e);
        }
        vf scaling = vf_exp(vf_sub(before, shift));
        vf_store(factor + j, scaling);
        vf_store(sum + j, vf_fma(vf_load(sum + j), scaling, total));
        vf_store(maxima + j, largest);
    }
}

static void columns_scale(float *x, int64_t rows, int64_t columns, const float *factor) {
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < columns; j += VF_WIDTH) {
            vf_store(x + i * columns + j, vf_mul(vf_load(x + i * columns + j), vf_load(factor + j)));
        }
    }
}

/* The functions of a table that every instruction set with vectors has. */
#define SIMD_LOOPS                                                                                                  \
    .pack_rows = MULTIPLY_VECTORS * VF_WIDTH, .dot = dot, .split = split, .dot_split = dot_split, .pack = pack,     \
    .multiply = multiply, .widen = widen, .narrow = narrow, .sum_of_squares = sum_of_squares, .scale_by = scale_by, \
    .sum = sum, .multiply_add = multiply_add, .centre = centre, .add_stored = add_stored, .rotate = rotate,         \
    .activate = activate, .activate_gate = activate_gate, .add_scaled = add_scaled, .scale = scale,                 \
    .maximum = maximum, .exp_sum = exp_sum, .columns_softmax = columns_softmax, .columns_scale = columns_scale

#endif

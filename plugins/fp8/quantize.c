/* SPDX-License-Identifier: Apache-2.0 */
/* Quantizes like transformers' fine-grained FP8 quantizer: the largest weight of a block becomes 448, the largest
 * number of F8_E4M3. Weights whose sizes are not multiples of the block are left alone. */
#include "quantize.h"

#include <math.h>

#include "graft/convert.h"

static const float largest_number = 448.0F;

/* Rounds a number up to 448 to the nearest F8_E4M3, ties to even. Adding a power of two leaves the bits that F8_E4M3
 * has there: three after the leading one, or multiples of 2^-9 for subnormal numbers. */
static uint8_t f8_from_f32(float number) {
    const uint32_t bits = graft_bits_from_f32(number), sign = bits >> 24 & 0x80U, rest = bits & 0x7fffffffU;
    if (rest < 0x3c800000U) { /* subnormal: less than 2^-6 */
        return (uint8_t)(sign | (graft_bits_from_f32(graft_f32_from_bits(rest) + 0x1p14F) & 0xfU));
    }
    return (uint8_t)(sign | (rest - 0x3c000000U + 0x7ffffU + (rest >> 20 & 1U)) >> 20);
}

static int shape(const struct graft_quantization *self, struct graft_quantize_shapes *shapes,
                 struct graft_error *error) {
    const int64_t block = self->row_step, rows = shapes->weight->shape[0], columns = shapes->weight->shape[1];
    const int64_t scales[2] = {rows / block, columns / block};
    (void)error;
    shapes->stays = shapes->weight->rank != 2 || rows % block != 0 || columns % block != 0;
    if (!shapes->stays) {
        graft_quantize_set(shapes, 0, GRAFT_DTYPE_F8_E4M3, 2, shapes->weight->shape);
        graft_quantize_set(shapes, 1, GRAFT_DTYPE_F32, 2, scales);
    }
    return GRAFT_OK;
}

/* The largest absolute value of a block; NaN if it contains one. */
static float largest(const float *weights, int64_t block, int64_t columns) {
    float most = 0.0F;
    for (int64_t r = 0; r < block; r++) {
        for (int64_t i = 0; i < block; i++) {
            const float size = fabsf(weights[r * columns + i]);
            most = size > most || size != size ? size : most;
        }
    }
    return most;
}

static int32_t quantize_block(const float *weights, int64_t block, int64_t columns, uint8_t *codes, float *inverse) {
    const float most = largest(weights, block, columns);
    const float scale = most > 0.0F ? 1.0F / most * largest_number : 1.0F; /* rounded twice, as in transformers */
    *inverse = 1.0F / scale;
    for (int64_t r = 0; r < block; r++) {
        for (int64_t i = 0; i < block; i++) {
            const float scaled = weights[r * columns + i] * scale;
            codes[r * columns + i] = f8_from_f32(fminf(fmaxf(scaled, -largest_number), largest_number));
        }
    }
    return isfinite(most) ? 0 : -1;
}

static int32_t quantize(const struct graft_quantization *self, const struct graft_quantize_work *work) {
    const int64_t block = self->row_step, columns = work->columns, blocks = columns / block;
    int32_t failed = 0;
    for (int64_t r = work->begin; r < work->end; r += block) {
        for (int64_t b = 0; b < blocks; b++) {
            failed |= quantize_block(work->weights + (r - work->begin) * columns + b * block, block, columns,
                                     (uint8_t *)work->tensors[0] + r * columns + b * block,
                                     (float *)work->tensors[1] + r / block * blocks + b);
        }
    }
    return failed;
}

static const char *const weights[] = {"weight", NULL};
static const char *const tensors[] = {"weight", "weight_scale_inv", NULL};

#define QUANTIZATION(block)                                                                               \
    {                                                                                                     \
        .struct_size = sizeof(struct graft_quantization), .group_size = (block), .name = "fp8",           \
        .config = "{\"quant_method\": \"fp8\", \"activation_scheme\": \"dynamic\", \"fmt\": \"e4m3\", "   \
                  "\"weight_block_size\": [" #block ", " #block "]}",                                     \
        .left_out = "modules_to_not_convert", .module = "Linear", .weights = weights, .tensors = tensors, \
        .flags = GRAFT_QUANTIZATION_EXPERTS, .row_step = (block), .shape = shape, .quantize = quantize    \
    }

const struct graft_quantization fp8_quantizations[FP8_QUANTIZATIONS] = {QUANTIZATION(128), QUANTIZATION(64),
                                                                        QUANTIZATION(32)};

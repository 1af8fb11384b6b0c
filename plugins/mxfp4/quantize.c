/* SPDX-License-Identifier: Apache-2.0 */
/* Quantizes as the published models were: weights are rounded to bf16; the scale of 32 inputs is the smallest power of
 * two that makes none of them larger than 6, the largest number of E2M1; numbers are rounded to nearest, ties to the
 * even code. */
#include "quantize.h"

#include <math.h>

#include "graft/convert.h"

enum { BLOCK = 32, BYTES = 16, EXPONENT_ONE = 127 };

static int shape(const struct graft_quantization *self, struct graft_quantize_shapes *shapes,
                 struct graft_error *error) {
    const struct graft_value_info *weight = shapes->weight;
    (void)self;
    shapes->stays = weight->rank != 3;
    if (shapes->stays) {
        return GRAFT_OK;
    }
    if (weight->shape[2] % BLOCK != 0) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, shapes->name,
                               "has %lld inputs, which blocks of %d do not divide", (long long)weight->shape[2], BLOCK);
    }
    const int64_t blocks[4] = {weight->shape[0], weight->shape[1], weight->shape[2] / BLOCK, BYTES};
    graft_quantize_set(shapes, 0, GRAFT_DTYPE_U8, 4, blocks);
    graft_quantize_set(shapes, 1, GRAFT_DTYPE_U8, 3, blocks);
    return GRAFT_OK;
}

/* Rounds a number up to 6 to E2M1: two bits of exponent, one of mantissa. Below 1 the numbers are multiples of 0.5. */
static uint32_t e2m1(float number) {
    const uint32_t bits = graft_bits_from_f32(number), sign = bits >> 28 & 8U, rest = bits & 0x7fffffffU;
    if (rest < 0x3f800000U) {
        return sign | (graft_bits_from_f32(graft_f32_from_bits(rest) + 0x1p22F) & 7U);
    }
    return sign | (rest - 0x3f000000U + 0x1fffffU + (rest >> 22 & 1U)) >> 22;
}

static int32_t quantize_block(const float *weights, uint8_t *codes, uint8_t *scale) {
    float numbers[BLOCK], most = 0.0F;
    for (int i = 0; i < BLOCK; i++) {
        numbers[i] = graft_f32_from_bf16(graft_bf16_from_f32(weights[i]));
        const float size = fabsf(numbers[i]);
        most = size > most || size != size ? size : most;
    }
    if (!isfinite(most)) {
        return -1;
    }
    const uint32_t exponent = (graft_bits_from_f32(most / 6.0F) + 0x7fffffU) >> 23;
    const float power = graft_f32_from_bits(exponent << 23);
    const float factor = exponent > 0 ? 1.0F / power : 0.0F;
    for (int i = 0; i < BLOCK; i++) {
        codes[i / 2] = (uint8_t)(codes[i / 2] | e2m1(numbers[i] * factor) << 4 * (i % 2));
    }
    *scale = (uint8_t)exponent;
    return 0;
}

static int32_t quantize(const struct graft_quantization *self, const struct graft_quantize_work *work) {
    const int64_t first = work->begin * work->columns, end = work->end * work->columns;
    int32_t failed = 0;
    (void)self;
    for (int64_t i = first; i < end; i += BLOCK) {
        failed |= quantize_block(work->weights + (i - first), (uint8_t *)work->tensors[0] + i / 2,
                                 (uint8_t *)work->tensors[1] + i / BLOCK);
    }
    return failed;
}

static const char *const weights[] = {"gate_up_proj", "down_proj", NULL};
static const char *const tensors[] = {"*_blocks", "*_scales", NULL};

const struct graft_quantization mxfp4_quantization = {
    .struct_size = sizeof mxfp4_quantization,
    .name = "mxfp4",
    .config = "{\"quant_method\": \"mxfp4\"}",
    .left_out = "modules_to_not_convert",
    .module = "GptOssExperts",
    .weights = weights,
    .tensors = tensors,
    .row_step = 1,
    .shape = shape,
    .quantize = quantize,
};

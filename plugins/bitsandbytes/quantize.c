/* SPDX-License-Identifier: Apache-2.0 */
/* Quantizes in blocks of consecutive weights, whatever rows they are in. A block's scale is its largest absolute
 * weight. Each weight gets the code of the number nearest to weight / scale; halfway between two, the smaller one. */
#include "quantize.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "graft/dtype.h"
#include "numbers.h"

enum { NUMBERS = 16, MAX_STATE = 160, CODE_OF_ZERO = 7 };

static const char *type_name(graft_dtype dtype) {
    return dtype == GRAFT_DTYPE_F32 ? "float32" : dtype == GRAFT_DTYPE_F16 ? "float16" : "bfloat16";
}

/* Writes the JSON object that is stored with the codes; returns its length. */
static int write_state(const struct graft_quantization *self, const struct graft_value_info *weight, char *text) {
    return snprintf(
        text, MAX_STATE, "{\"quant_type\": \"nf4\", \"blocksize\": %d, \"dtype\": \"%s\", \"shape\": [%lld, %lld]}",
        (int)self->group_size, type_name(weight->dtype), (long long)weight->shape[0], (long long)weight->shape[1]);
}

static int shape(const struct graft_quantization *self, struct graft_quantize_shapes *shapes,
                 struct graft_error *error) {
    const struct graft_value_info *weight = shapes->weight;
    const int64_t count = weight->shape[0] * weight->shape[1], column[2] = {count / 2, 1}, numbers = NUMBERS;
    const int64_t blocks = (count + self->group_size - 1) / self->group_size;
    char text[MAX_STATE];
    shapes->stays = weight->rank != 2;
    if (shapes->stays) {
        return GRAFT_OK;
    }
    if (weight->shape[1] % 2 != 0) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, shapes->name,
                               "has %lld inputs, expected an even number, because a byte holds two codes",
                               (long long)weight->shape[1]);
    }
    const int64_t length = write_state(self, weight, text);
    graft_quantize_set(shapes, 0, GRAFT_DTYPE_U8, 2, column);
    graft_quantize_set(shapes, 1, GRAFT_DTYPE_F32, 1, &blocks);
    graft_quantize_set(shapes, 2, GRAFT_DTYPE_F32, 1, &numbers);
    graft_quantize_set(shapes, 3, GRAFT_DTYPE_U8, 1, &length);
    return GRAFT_OK;
}

/* How many of the table's numbers are below, by comparing with the midpoints between neighbours. */
static int code_of(float scaled) {
    int code = 0;
    for (int i = 1; i < NUMBERS; i++) {
        code += scaled > (nf4_numbers[i - 1] + nf4_numbers[i]) * 0.5F;
    }
    return code;
}

static int32_t quantize_block(const float *weights, int64_t n, uint8_t *codes, float *scale) {
    float most = 0.0F;
    for (int64_t i = 0; i < n; i++) {
        const float size = fabsf(weights[i]);
        most = size > most || size != size ? size : most;
    }
    const float factor = 1.0F / most;
    for (int64_t i = 0; i < n; i++) {
        const int code = most > 0.0F ? code_of(weights[i] * factor) : CODE_OF_ZERO;
        codes[i / 2] = (uint8_t)(codes[i / 2] | code << (i % 2 == 0 ? 4 : 0));
    }
    *scale = most;
    return isfinite(most) ? 0 : -1;
}

static int32_t quantize(const struct graft_quantization *self, const struct graft_quantize_work *work) {
    const int64_t block = self->group_size, first = work->begin * work->columns, end = work->end * work->columns;
    int32_t failed = 0;
    for (int64_t i = first; i < end; i += block) {
        const int64_t n = end - i < block ? end - i : block;
        failed |= quantize_block(work->weights + (i - first), n, (uint8_t *)work->tensors[0] + i / 2,
                                 (float *)work->tensors[1] + i / block);
    }
    if (work->begin == 0) {
        char text[MAX_STATE];
        const int length = write_state(self, work->shapes->weight, text);
        memcpy(work->tensors[2], nf4_numbers, sizeof nf4_numbers);
        memcpy(work->tensors[3], text, (size_t)length);
    }
    return failed;
}

static const char *const weights[] = {"weight", NULL};
static const char *const tensors[] = {"*", "*.absmax", "*.quant_map", "*.quant_state.bitsandbytes__nf4", NULL};

#define QUANTIZATION(block)                                                                                  \
    {                                                                                                        \
        .struct_size = sizeof(struct graft_quantization), .group_size = (block), .name = "nf4",              \
        .config = "{\"quant_method\": \"bitsandbytes\", \"_load_in_4bit\": true, \"_load_in_8bit\": false, " \
                  "\"load_in_4bit\": true, \"load_in_8bit\": false, \"bnb_4bit_quant_type\": \"nf4\", "      \
                  "\"bnb_4bit_use_double_quant\": false, \"bnb_4bit_compute_dtype\": \"bfloat16\", "         \
                  "\"bnb_4bit_quant_storage\": \"uint8\", \"llm_int8_enable_fp32_cpu_offload\": false, "     \
                  "\"llm_int8_has_fp16_weight\": false, \"llm_int8_threshold\": 6.0}",                       \
        .left_out = "llm_int8_skip_modules", .module = "Linear", .weights = weights, .tensors = tensors,     \
        .row_step = (block), .shape = shape, .quantize = quantize                                            \
    }

const struct graft_quantization bnb_quantizations[BNB_QUANTIZATIONS] = {QUANTIZATION(64), QUANTIZATION(32),
                                                                        QUANTIZATION(128), QUANTIZATION(256)};

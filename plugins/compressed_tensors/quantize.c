/* SPDX-License-Identifier: Apache-2.0 */
/* Quantizes as the library's minmax observer does, or with searched scales (search.h). Minmax: the scale is the largest
 * weight divided by half the range of codes, and a code is the nearest integer to weight / scale, ties to even. Both
 * divisions are rounded to the weights' own type. */
#include "quantize.h"

#include <math.h>
#include <string.h>

#include "graft/convert.h"
#include "search.h"

/* The difference between 1 and the next number of a type: the scale of a group of zeros. */
static float epsilon_of(graft_dtype dtype) {
    return dtype == GRAFT_DTYPE_F32 ? 0x1p-23F : dtype == GRAFT_DTYPE_F16 ? 0x1p-10F : 0x1p-7F;
}

/* A way to choose scales. */
struct kind {
    int32_t bits;     /* of a code */
    int32_t searches; /* 1: searches for the scale with the smallest error; 0: minmax */
};

static const struct kind *kind_of(const struct graft_quantization *self) {
    return self->data;
}

static int32_t bits_of(const struct graft_quantization *self) {
    return kind_of(self)->bits;
}

static int64_t group_of(const struct graft_quantization *self, int64_t columns) {
    return self->group_size > 0 ? self->group_size : columns;
}

static int shape(const struct graft_quantization *self, struct graft_quantize_shapes *shapes,
                 struct graft_error *error) {
    const int64_t rows = shapes->weight->shape[0], columns = shapes->weight->shape[1];
    const int64_t group = group_of(self, columns), two = 2;
    if (shapes->weight->rank != 2) {
        shapes->stays = 1;
        return GRAFT_OK;
    }
    if (columns % group != 0) {
        (void)graft_error_set(error, GRAFT_ERROR_MODEL, shapes->name,
                              "has %lld inputs, which groups of %lld do not divide", (long long)columns,
                              (long long)group);
        graft_error_hint(error, group > 32 ? "give smaller groups, %s:32" : "take int8, which has none", self->name);
        return GRAFT_ERROR_MODEL;
    }
    const int64_t packed[2] = {rows, (columns * bits_of(self) + 31) / 32}, scales[2] = {rows, columns / group};
    graft_quantize_set(shapes, 0, GRAFT_DTYPE_I32, 2, packed);
    graft_quantize_set(shapes, 1, shapes->weight->dtype, 2, scales);
    graft_quantize_set(shapes, 2, GRAFT_DTYPE_I64, 1, &two);
    return GRAFT_OK;
}

/* The weight with the largest absolute value, with its sign; NaN if one is NaN. */
static float furthest(const float *weights, int64_t n) {
    float most = 0.0F;
    for (int64_t i = 0; i < n && !isnan(most); i++) {
        most = fabsf(weights[i]) > fabsf(most) || isnan(weights[i]) ? weights[i] : most;
    }
    return most;
}

/* Rounds the weights of a group, which begins at input `first` of its row, to codes, and adds them to the row's
 * words. */
static void add_codes(const float *weights, int64_t n, int64_t first, float scale, int32_t bits, graft_dtype dtype,
                      uint32_t *words) {
    const float half = (float)(1 << (bits - 1));
    const int32_t slots = 32 / bits;
    for (int64_t i = 0; i < n; i++) {
        const float code = rintf(fminf(fmaxf(ct_rounded(weights[i] / scale, dtype), -half), half - 1.0F));
        words[(first + i) / slots] |= (uint32_t)(int32_t)(code + half) << (first + i) % slots * bits;
    }
}

/* Like add_codes, with 4-bit codes from ct_nearest, for searched scales. */
static void add_nearest(const float *weights, int64_t n, int64_t first, float scale, uint32_t *words) {
    const float factor = 1.0F / scale;
    for (int64_t i = 0; i < n; i++) {
        words[(first + i) / 8] |= (uint32_t)(int32_t)(ct_nearest(weights[i], factor) + 8.0F) << (first + i) % 8 * 4;
    }
}

static int32_t quantize(const struct graft_quantization *self, const struct graft_quantize_work *work) {
    const int32_t bits = bits_of(self), searches = kind_of(self)->searches;
    const graft_dtype dtype = work->shapes->weight->dtype;
    const int64_t group = group_of(self, work->columns), groups = work->columns / group;
    const int64_t row_words = (work->columns * bits + 31) / 32;
    for (int64_t r = work->begin; r < work->end; r++) {
        uint32_t *words = (uint32_t *)work->tensors[0] + r * row_words;
        const float *row = work->weights + (r - work->begin) * work->columns;
        for (int64_t g = 0; g < groups; g++) {
            const float most = furthest(row + g * group, group);
            if (!isfinite(most)) {
                return -1;
            }
            const float scale = searches ? ct_search_scale(row + g * group, group, most, dtype)
                                         : ct_rounded(fabsf(most) / ((float)((1 << bits) - 1) / 2.0F), dtype);
            const float used = scale != 0.0F ? scale : epsilon_of(dtype);
            graft_set_f32_at(work->tensors[1], dtype, r * groups + g, used);
            if (searches) {
                add_nearest(row + g * group, group, g * group, used, words);
            } else {
                add_codes(row + g * group, group, g * group, used, bits, dtype, words);
            }
        }
    }
    if (work->begin == 0) {
        const int64_t sizes[2] = {work->rows, work->columns};
        memcpy(work->tensors[2], sizes, sizeof sizes);
    }
    return 0;
}

static const char *const weights[] = {"weight", NULL};
static const char *const tensors[] = {"weight_packed", "weight_scale", "weight_shape", NULL};

static const struct kind four = {4, 0}, searched = {4, 1}, eight = {8, 0};

#define CONFIG(bits, strategy, group, observer)                                                                      \
    "{\"quant_method\": \"compressed-tensors\", \"format\": \"pack-quantized\", \"quantization_status\": "           \
    "\"compressed\", \"config_groups\": {\"group_0\": {\"targets\": [\"Linear\"], \"weights\": {\"num_bits\": " bits \
    ", \"type\": \"int\", \"symmetric\": true, \"strategy\": \"" strategy "\", \"group_size\": " group               \
    ", \"dynamic\": false, \"observer\": \"" observer                                                                \
    "\"}, \"input_activations\": null, \"output_activations\": null}}, "                                             \
    "\"kv_cache_scheme\": null, \"ignore\": []}"

#define QUANTIZATION(its_name, group, bits, its_config)                                                           \
    {                                                                                                             \
        .struct_size = sizeof(struct graft_quantization), .group_size = (group), .name = (its_name),              \
        .config = (its_config), .left_out = "ignore", .module = "Linear", .weights = weights, .tensors = tensors, \
        .flags = GRAFT_QUANTIZATION_EXPERTS, .row_step = 1, .data = &(bits), .shape = shape, .quantize = quantize \
    }

const struct graft_quantization ct_quantizations[CT_QUANTIZATIONS] = {
    QUANTIZATION("int4", 128, four, CONFIG("4", "group", "128", "minmax")),
    QUANTIZATION("int4", 64, four, CONFIG("4", "group", "64", "minmax")),
    QUANTIZATION("int4", 32, four, CONFIG("4", "group", "32", "minmax")),
    QUANTIZATION("int4", 256, four, CONFIG("4", "group", "256", "minmax")),
    QUANTIZATION("int8", 0, eight, CONFIG("8", "channel", "null", "minmax")),
    QUANTIZATION("int8", 128, eight, CONFIG("8", "group", "128", "minmax")),
    QUANTIZATION("int8", 64, eight, CONFIG("8", "group", "64", "minmax")),
    QUANTIZATION("int8", 32, eight, CONFIG("8", "group", "32", "minmax")),
    QUANTIZATION("int4_mse", 32, searched, CONFIG("4", "group", "32", "mse")),
    QUANTIZATION("int4_mse", 64, searched, CONFIG("4", "group", "64", "mse")),
    QUANTIZATION("int4_mse", 128, searched, CONFIG("4", "group", "128", "mse")),
    QUANTIZATION("int4_mse", 256, searched, CONFIG("4", "group", "256", "mse")),
};

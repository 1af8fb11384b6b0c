/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A complete quantized format whose codes the host knows: `weight` has integers of 8 bits, `weight_scale` the scale of
 * each row. The plugin says what the tensors mean, and the host multiplies, joins, divides and saves them. It also
 * makes such tensors of float weights: `--quantize row_int8`.
 */
#include <math.h>

#include "graft/field_rule.h"
#include "graft/linear.h"
#include "graft/plugin.h"
#include "graft/quant_format.h"
#include "graft/quantization.h"

/* --- Reading --- */

static int describe(const struct graft_class *cls, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    struct graft_scheme scheme;
    (void)cls;
    (void)config;
    if (graft_scheme_of_linear(&scheme, args, sink->path, error) == GRAFT_OK) {
        scheme.codec.kind = GRAFT_CODE_INT;
        scheme.codec.bits = 8;
        graft_scheme_codes(&scheme, "weight", scheme.codec.columns, GRAFT_DTYPE_I8); /* [out, in] */
        graft_scheme_scales(&scheme, "weight_scale", GRAFT_DTYPE_NONE);              /* [out, 1], of any float type */
        graft_scheme_describe_linear(&scheme, args, sink, error);
    }
    return error->code;
}

static const struct graft_class row_int8_linear = GRAFT_SCHEME_LINEAR_CLASS("RowInt8Linear", describe);

/* Only in models whose config.json names the method, and in modules that have scales. */
static const char *const methods[] = {"row_int8", NULL};
static const char *const scales[] = {"weight_scale", NULL};
static const struct graft_condition conditions[] = {GRAFT_SCHEME_IS_METHOD(methods), GRAFT_SCHEME_HAS_TENSOR(scales)};
static const struct graft_replacement replacement = GRAFT_SCHEME_LINEARS(&row_int8_linear, conditions);

/* Which modules are left out is told by their tensors, so the list of them is not read. */
static const struct graft_field_rule field_rules[] = {{.name = "quantization_config.ignore"}};

/* --- Making --- */

static int shape(const struct graft_quantization *self, struct graft_quantize_shapes *shapes,
                 struct graft_error *error) {
    const int64_t scales_shape[2] = {shapes->weight->shape[0], 1};
    (void)self;
    (void)error;
    shapes->stays = shapes->weight->rank != 2;
    if (!shapes->stays) {
        graft_quantize_set(shapes, 0, GRAFT_DTYPE_I8, 2, shapes->weight->shape);
        graft_quantize_set(shapes, 1, GRAFT_DTYPE_F32, 2, scales_shape);
    }
    return GRAFT_OK;
}

/* The largest number of a row becomes 127 or -127. Returns -1 if one is not finite. */
static int32_t quantize_row(const float *weights, int64_t columns, int8_t *codes, float *scale) {
    float largest = 0.0F;
    for (int64_t i = 0; i < columns; i++) {
        if (!isfinite(weights[i])) {
            return -1;
        }
        largest = fmaxf(largest, fabsf(weights[i]));
    }
    const float factor = 127.0F / largest;
    const int is_zero = !isfinite(factor); /* or so small that no float is the factor */
    for (int64_t i = 0; i < columns; i++) {
        codes[i] = is_zero ? 0 : (int8_t)lrintf(weights[i] * factor);
    }
    *scale = is_zero ? 0.0F : largest / 127.0F;
    return 0;
}

static int32_t quantize(const struct graft_quantization *self, const struct graft_quantize_work *work) {
    int32_t failed = 0;
    (void)self;
    for (int64_t row = work->begin; row < work->end; row++) {
        failed |= quantize_row(work->weights + (row - work->begin) * work->columns, work->columns,
                               (int8_t *)work->tensors[0] + row * work->columns, (float *)work->tensors[1] + row);
    }
    return failed;
}

static const char *const weights[] = {"weight", NULL};
static const char *const tensors[] = {"weight", "weight_scale", NULL};
static const struct graft_quantization quantization = {
    .struct_size = sizeof quantization,
    .name = "row_int8",
    .config = "{\"quant_method\": \"row_int8\"}",
    .left_out = "ignore",
    .module = "Linear",
    .weights = weights,
    .tensors = tensors,
    .row_step = 1,
    .shape = shape,
    .quantize = quantize,
};

/* --- The descriptor --- */

static const struct graft_plugin plugin = {
    GRAFT_PLUGIN_HEADER,
    .id = "row_int8",
    .version = "1.0.0",
    .license = "Apache-2.0",
    .description = "Linears with integers of 8 bits and a scale for each row",
    .replacements = &replacement,
    .n_replacements = 1,
    .replacement_stride = sizeof replacement,
    .quant_methods = methods,
    .quantizations = &quantization,
    .n_quantizations = 1,
    .quantization_stride = sizeof quantization,
    GRAFT_FIELD_RULES(field_rules),
};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host;
    (void)error;
    return &plugin;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A complete quantized Linear: 8-bit weights with a scale for each row, for the projections of layers. While a
 * checkpoint is loaded, a custom operation computes both from the weight; the forward multiplies the codes without
 * expanding them first. */
#include <math.h>

#include "graft/describe.h"
#include "graft/instance.h"
#include "graft/linear.h"
#include "graft/option.h"
#include "graft/plugin.h"

/* --- Structure --- */

static int describe(const struct graft_class *cls, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    int64_t shape[2] = {graft_args_int(args, "out_features", 0), graft_args_int(args, "in_features", 0)};
    (void)cls;
    (void)config;
    sink->attribute(sink->data, "in_features", &shape[1], 1, error);
    sink->attribute(sink->data, "out_features", &shape[0], 1, error);
    graft_describe_typed(sink, "codes", 2, shape, GRAFT_DTYPE_I8, error);
    graft_describe_typed(sink, "scales", 1, shape, GRAFT_DTYPE_F32, error);
    if (graft_args_int(args, "bias", 1) != 0) {
        graft_describe_parameter(sink, "bias", 1, shape, 0, GRAFT_INIT_NONE, error);
    }
    return error->code;
}

/* --- Quantizing a checkpoint's weight --- */

static int64_t levels = 127; /* codes are -levels to levels; set by the option `bits` */

static int infer(const struct graft_custom_operation *self, const struct graft_custom_shapes *shapes,
                 struct graft_error *error) {
    if (shapes->n_inputs != 1 || shapes->n_outputs != 2) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, self->name, "expected 1 value and 2 targets, got %d and %d",
                               (int)shapes->n_inputs, (int)shapes->n_outputs);
    }
    const struct graft_value_info *weight = shapes->inputs;
    if (weight->rank != 2) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, self->name, "expected a matrix, got %d dimensions",
                               (int)weight->rank);
    }
    struct graft_value_info *codes = graft_custom_output(shapes, 0);
    struct graft_value_info *scales = graft_custom_output(shapes, 1);
    codes->dtype = GRAFT_DTYPE_I8;
    codes->rank = 2;
    codes->shape[0] = weight->shape[0];
    codes->shape[1] = weight->shape[1];
    scales->dtype = GRAFT_DTYPE_F32;
    scales->rank = 1;
    scales->shape[0] = weight->shape[0];
    return GRAFT_OK;
}

/* codes = round(weight / scale), with the scale that gives the row's largest weight the largest code. Returns 0 if a
 * weight is not finite, else 1. */
static int quantize_row(const float *weight, int64_t columns, int8_t *codes, float *scale) {
    float largest = 0.0F;
    for (int64_t k = 0; k < columns; k++) {
        if (!isfinite(weight[k])) {
            return 0;
        }
        largest = fmaxf(largest, fabsf(weight[k]));
    }
    float factor = (float)levels / largest;
    int32_t nothing = !isfinite(factor); /* the row is zero, or so small that the factor overflows */
    for (int64_t k = 0; k < columns; k++) {
        codes[k] = nothing ? 0 : (int8_t)lrintf(weight[k] * factor);
    }
    *scale = nothing ? 0.0F : largest / (float)levels;
    return 1;
}

/* Quantizes rows [begin, end). Called on any of the host's threads. */
static int apply(const struct graft_custom_operation *self, const struct graft_custom_work *work,
                 struct graft_error *error) {
    int64_t columns = work->inputs[0].shape[1];
    const float *weight = work->from[0]; /* [end - begin, columns] */
    int8_t *codes = work->to[0];         /* [end - begin, columns] */
    float *scales = work->to[1];         /* [end - begin] */
    for (int64_t i = 0; i < work->end - work->begin; i++) {
        if (!quantize_row(weight + i * columns, columns, codes + i * columns, &scales[i])) {
            return graft_error_set(error, GRAFT_ERROR_MODEL, self->name, "row %lld has a weight that is not finite",
                                   (long long)(work->begin + i));
        }
    }
    return GRAFT_OK;
}

/* There is no `reverse`, because the original weights are lost. */
static const struct graft_custom_operation quantize = {
    .struct_size = sizeof quantize,
    .flags = GRAFT_CUSTOM_ROWS | GRAFT_CUSTOM_SEES_F32 | GRAFT_CUSTOM_LOSSY,
    .name = "example_int8_rows",
    .infer = infer,
    .apply = apply,
};

static const char *const sources[] = {"weight"};
static const char *const targets[] = {"codes", "scales"};
static const struct graft_operation operations[] = {
    {.struct_size = sizeof operations[0], .kind = GRAFT_OP_CUSTOM, .custom = &quantize}};
static const struct graft_conversion conversions[] = {{
    .struct_size = sizeof conversions[0],
    .n_sources = 1,
    .sources = sources,
    .n_targets = 2,
    .targets = targets,
    .n_operations = 1,
    .operations = operations,
    .operation_stride = sizeof operations[0],
}};

/* --- Instances --- */

struct quantized_linear {
    struct graft_instance instance;
    const struct graft_weight *codes;  /* [out_features, in_features] I8, one block */
    const struct graft_weight *scales; /* [out_features] F32, one block */
    const struct graft_weight *bias;   /* [out_features] of the checkpoint's type, or NULL */
};

static int create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                  struct graft_error *error) {
    struct quantized_linear *self = graft_instance_new(build, sizeof *self, error);
    (void)cls;
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->codes = graft_build_weight(build, "codes", error);
    self->scales = graft_build_weight(build, "scales", error);
    self->bias = build->weight(build->data, "bias");
    return graft_instance_finish(self, instance, error);
}

/* Shared by the threads. */
struct product {
    const int8_t *codes;
    const float *scales;
    const float *bias; /* or NULL */
    int64_t rows;
    int64_t columns;
    int64_t tokens;
    const float *x;
    float *y;
};

/* Multiplies rows [begin, end) of the weight, each read once for all tokens. The order of sums does not depend on how
 * rows are divided among threads. */
static void multiply(void *data, int64_t begin, int64_t end) {
    const struct product *product = data;
    for (int64_t r = begin; r < end; r++) {
        const int8_t *codes = product->codes + r * product->columns;
        for (int64_t t = 0; t < product->tokens; t++) {
            const float *x = product->x + t * product->columns;
            float sum = 0.0F;
            for (int64_t k = 0; k < product->columns; k++) {
                sum += x[k] * (float)codes[k];
            }
            product->y[t * product->rows + r] =
                sum * product->scales[r] + (product->bias != NULL ? product->bias[r] : 0.0F);
        }
    }
}

static int forward(void *instance, const struct graft_call *call, const struct graft_linear_args *args,
                   struct graft_error *error) {
    enum { GRAIN = 1 << 16 }; /* multiplications below which another thread does not pay */
    const struct quantized_linear *self = instance;
    struct product product = {
        .codes = graft_weight_block(self->codes, 0)->data,
        .scales = graft_weight_block(self->scales, 0)->data,
        .rows = self->codes->rows,
        .columns = self->codes->columns,
        .tokens = args->tokens,
        .x = args->x,
        .y = args->y,
    };
    if (self->bias != NULL) {
        product.bias = graft_scratch_widened(call, self->bias, error);
        if (product.bias == NULL) {
            return GRAFT_ERROR_INTERNAL;
        }
    }
    call->threads->parallel_for(product.rows, 1 + GRAIN / (1 + product.columns * product.tokens), multiply, &product);
    return GRAFT_OK;
}

static const struct graft_linear vtable = {.struct_size = sizeof vtable, .forward = forward};

/* --- Descriptor --- */

static const struct graft_class quantized_linear = {
    .struct_size = sizeof quantized_linear,
    .name = "ExampleInt8Linear",
    .interface_id = GRAFT_INTERFACE_LINEAR,
    .describe = describe,
    .create = create,
    .destroy = graft_instance_destroy,
    .forward = &vtable,
    GRAFT_CLASS_CONVERSIONS(conversions),
};

/* Leaves out the head, which loses more from quantization. */
static const struct graft_replacement replacement = {
    .struct_size = sizeof replacement,
    .key = GRAFT_KEY_NAME,
    .target = "Linear",
    .replacement = &quantized_linear,
    .module_path = "\\.layers\\.[0-9]+\\..*_proj$",
};

static const char *const bits[] = {"4", "8", NULL};
static const struct graft_option options[] = {{
    .struct_size = sizeof options[0],
    .kind = GRAFT_OPTION_INT,
    .name = "bits",
    .help = "How many bits of each code are used",
    .default_value = "8",
    .choices = bits,
}};

static const struct graft_plugin plugin;
static const struct graft_host *host;

static int init(struct graft_error *error) {
    (void)error;
    levels = (1 << (graft_args_int(host->options(&plugin), "bits", 8) - 1)) - 1;
    return GRAFT_OK;
}

static const struct graft_plugin plugin = {
    GRAFT_PLUGIN_HEADER,
    .id = "quantized_linear",
    .version = "1.0.0",
    .license = "Apache-2.0",
    .description = "Projections of layers with 8-bit weights",
    .replacements = &replacement,
    .n_replacements = 1,
    .replacement_stride = sizeof replacement,
    .custom_operations = &quantize,
    .n_custom_operations = 1,
    .custom_operation_stride = sizeof quantize,
    .init = init,
    .options = options,
    .n_options = 1,
    .option_stride = sizeof options[0],
};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *given, struct graft_error *error) {
    (void)error;
    host = given;
    return &plugin;
}

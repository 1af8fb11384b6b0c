/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces Linears of checkpoints in compressed-tensors' format int-quantized, with a scale for each row, and leaves
 * the last output unset: only detected with such a checkpoint. */
#include "graft/plugin.h"
#include "graft/describe.h"
#include "graft/instance.h"
#include "graft/linear.h"

static int describe(const struct graft_class *cls, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    const int64_t shape[2] = {graft_args_int(args, "out_features", 0), graft_args_int(args, "in_features", 0)};
    const int64_t scales[2] = {shape[0], 1};
    (void)cls;
    (void)config;
    int status = graft_describe_typed(sink, "weight", 2, shape, GRAFT_DTYPE_I8, error);
    return status == GRAFT_OK ? graft_describe_parameter(sink, "weight_scale", 2, scales, 0, GRAFT_INIT_NONE, error)
                              : status;
}

struct linear {
    struct graft_instance instance;
    const struct graft_weight *codes;  /* [out_features, in_features] */
    const struct graft_weight *scales; /* [out_features, 1] */
};

static int create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                  struct graft_error *error) {
    struct linear *self = graft_instance_new(build, sizeof *self, error);
    (void)cls;
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->codes = graft_build_weight(build, "weight", error);
    self->scales = graft_build_weight(build, "weight_scale", error);
    return graft_instance_finish(self, instance, error);
}

static float multiply(const int8_t *codes, const float *x, int64_t n) {
    float sum = 0.0F;
    for (int64_t k = 0; k < n; k++) {
        sum += (float)codes[k] * x[k];
    }
    return sum;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_linear_args *args,
                   struct graft_error *error) {
    const struct linear *self = instance;
    const int64_t rows = self->codes->rows, columns = self->codes->columns;
    const int8_t *codes = graft_weight_block(self->codes, 0)->data;
    const float *scales = graft_scratch_widened(call, self->scales, error);
    for (int64_t i = 0; scales != NULL && i < args->tokens * rows - 1; i++) {
        const int64_t token = i / rows, row = i % rows;
        args->y[i] = scales[row] * multiply(codes + row * columns, args->x + token * columns, columns);
    }
    return scales != NULL ? GRAFT_OK : GRAFT_ERROR_INTERNAL;
}

static const struct graft_linear vtable = {.struct_size = sizeof vtable, .forward = forward};

static const struct graft_class linear = {
    .struct_size = sizeof linear,
    .name = "PartlyUnpackedLinear",
    .interface_id = GRAFT_INTERFACE_LINEAR,
    .describe = describe,
    .create = create,
    .destroy = graft_instance_destroy,
    .forward = &vtable,
};

static const char *const methods[] = {"compressed-tensors", NULL};

static const struct graft_condition condition = {sizeof condition, GRAFT_CONDITION_CONFIG,
                                                 "quantization_config.quant_method", methods};

static const struct graft_replacement replacement = {
    .struct_size = sizeof replacement,
    .key = GRAFT_KEY_NAME,
    .target = "Linear",
    .replacement = &linear,
    .module_path = "\\.layers\\.[0-9]+\\..*_proj$",
    .conditions = &condition,
    .n_conditions = 1,
    .condition_stride = sizeof condition,
};

static const struct graft_plugin plugin = {
    GRAFT_PLUGIN_HEADER,
    .id = "unpacks_partly",
    .version = "1.0.0",
    .license = "Apache-2.0",
    .description = "Leaves an output of a quantized Linear as it was",
    .replacements = &replacement,
    .n_replacements = 1,
    .replacement_stride = sizeof replacement,
    .quant_methods = methods,
};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host;
    (void)error;
    return &plugin;
}

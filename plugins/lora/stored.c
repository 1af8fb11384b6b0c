/* SPDX-License-Identifier: Apache-2.0 */
#include "stored.h"

#include <stdio.h>

#include "graft/convert.h"

enum { MAX_TENSOR = 1024 };

static int32_t rounding;

void lora_set_rounding(int32_t rounds) {
    rounding = rounds;
}

static int infer(const struct graft_custom_operation *self, const struct graft_custom_shapes *shapes,
                 struct graft_error *error) {
    struct graft_value_info *output = graft_custom_output(shapes, 0);
    (void)self;
    (void)error;
    output->dtype = GRAFT_DTYPE_BF16;
    output->rank = shapes->inputs->rank;
    memcpy(output->shape, shapes->inputs->shape, sizeof output->shape);
    return GRAFT_OK;
}

static int apply(const struct graft_custom_operation *self, const struct graft_custom_work *work,
                 struct graft_error *error) {
    const float *from = work->from[0];
    uint16_t *to = work->to[0];
    int64_t n = work->end - work->begin;
    (void)self;
    (void)error;
    for (int32_t i = 1; i < work->inputs->rank; i++) {
        n *= work->inputs->shape[i];
    }
    for (int64_t i = 0; i < n; i++) {
        to[i] = graft_bf16_from_f32(from[i]);
    }
    return GRAFT_OK;
}

/* Without the flag GRAFT_CUSTOM_LOSSY, although rounding loses bits: with it the plugin would take no effect until the
 * user names it, and a user who sets the option `dtype` has asked for the rounding. */
static const struct graft_custom_operation round_to_bf16 = {
    .struct_size = sizeof round_to_bf16,
    .flags = GRAFT_CUSTOM_ROWS | GRAFT_CUSTOM_SEES_F32,
    .name = "bf16",
    .infer = infer,
    .apply = apply,
};

/* Whether the tensor is bf16 already, so that it needs no rounded copy. */
static int is_bf16(const struct graft_sink *sink, const char *name) {
    struct graft_value_info info = {.struct_size = sizeof info};
    return sink->adapter_tensor(sink->data, name, &info) && info.dtype == GRAFT_DTYPE_BF16;
}

int lora_describe_stored(const struct graft_sink *sink, const char *source, const char *target, int transposed,
                         struct graft_error *error) {
    struct graft_operation operations[2];
    struct graft_conversion conversion = GRAFT_RENAMING(&source, &target);
    conversion.operations = operations;
    conversion.operation_stride = sizeof operations[0];
    if (transposed) {
        operations[conversion.n_operations++] = (struct graft_operation){
            .struct_size = sizeof operations[0], .kind = GRAFT_OP_TRANSPOSE, .dim = 0, .dim1 = 1};
    }
    if (rounding && !is_bf16(sink, source)) {
        operations[conversion.n_operations++] = (struct graft_operation){
            .struct_size = sizeof operations[0], .kind = GRAFT_OP_CUSTOM, .custom = &round_to_bf16};
    }
    return conversion.n_operations == 0 && strcmp(source, target) == 0
               ? GRAFT_OK
               : sink->conversion(sink->data, &conversion, error);
}

int lora_describe_operation(const struct graft_sink *sink, const char *const *sources, int32_t n_sources,
                            const char *target, const struct graft_custom_operation *operation,
                            struct graft_error *error) {
    const struct graft_operation operations[] = {
        {.struct_size = sizeof operations[0], .kind = GRAFT_OP_CUSTOM, .custom = operation},
        {.struct_size = sizeof operations[0], .kind = GRAFT_OP_CUSTOM, .custom = &round_to_bf16},
    };
    const struct graft_conversion conversion = {
        .struct_size = sizeof conversion,
        .n_sources = n_sources,
        .sources = sources,
        .targets = &target,
        .operations = operations,
        .n_targets = 1,
        .n_operations = rounding ? 2 : 1,
        .operation_stride = sizeof operations[0],
    };
    return sink->conversion(sink->data, &conversion, error);
}

int lora_describe_whole(const struct graft_sink *sink, const char *child, struct graft_error *error) {
    static const char *const tensors[] = {"weight", "bias"};
    for (int i = 0; i < 2; i++) {
        char name[MAX_TENSOR];
        (void)snprintf(name, sizeof name, "%s.%s", child, tensors[i]);
        lora_describe_stored(sink, name, name, 0, error);
    }
    return error->code;
}

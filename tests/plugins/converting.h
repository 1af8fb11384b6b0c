/* SPDX-License-Identifier: Apache-2.0 */
/* A Linear whose weight is made by a custom operation. The including file defines apply() and reverse(), over rows of
 * f32, and before the include SOURCE, or FACTOR, by which the product is multiplied. */
#ifndef GRAFT_TEST_CONVERTING_H
#define GRAFT_TEST_CONVERTING_H

#include "graft/describe.h"
#include "graft/instance.h"
#include "graft/linear.h"
#include "graft/plugin.h"

#ifndef SOURCE
#define SOURCE "weight"
#endif
#ifndef FACTOR
#define FACTOR 1.0F
#endif
#ifndef DESCRIBED
#define DESCRIBED
#endif

/* An array of `count` numbers whose bits may be anything. */
static void apply(const float *from, float *to, int64_t count);
static void reverse(const float *from, float *to, int64_t count);

static int infer_same(const struct graft_custom_operation *self, const struct graft_custom_shapes *shapes,
                      struct graft_error *error) {
    (void)self, (void)error;
    struct graft_value_info *made = graft_custom_output(shapes, 0);
    made->dtype = shapes->inputs->dtype;
    made->rank = shapes->inputs->rank;
    for (int32_t i = 0; i < made->rank; i++) {
        made->shape[i] = shapes->inputs->shape[i];
    }
    return GRAFT_OK;
}

static int apply_rows(const struct graft_custom_operation *self, const struct graft_custom_work *work,
                      struct graft_error *error) {
    (void)self, (void)error;
    apply(work->from[0], work->to[0], (work->end - work->begin) * work->inputs->shape[1]);
    return GRAFT_OK;
}

static int reverse_rows(const struct graft_custom_operation *self, const struct graft_custom_work *work,
                        struct graft_error *error) {
    (void)self, (void)error;
    reverse(work->from[0], work->to[0], (work->end - work->begin) * work->inputs->shape[1]);
    return GRAFT_OK;
}

static const struct graft_custom_operation operation = {.struct_size = sizeof operation,
                                                        .flags = GRAFT_CUSTOM_ROWS,
                                                        .name = "test_converting",
                                                        .infer = infer_same,
                                                        .apply = apply_rows,
                                                        .reverse = reverse_rows};
static const struct graft_operation operations[] = {
    {.struct_size = sizeof operations[0], .kind = GRAFT_OP_CUSTOM, .custom = &operation}};
static const char *const sources[] = {SOURCE};
static const char *const targets[] = {"own"};
static const struct graft_conversion conversions[] = {{.struct_size = sizeof conversions[0],
                                                       .n_sources = 1,
                                                       .sources = sources,
                                                       .n_targets = 1,
                                                       .targets = targets,
                                                       .n_operations = 1,
                                                       .operations = operations,
                                                       .operation_stride = sizeof operations[0]}};

struct converting {
    struct graft_instance instance;
    const struct graft_weight *own; /* [out_features, in_features] */
    float factor;
};

static int describe(const struct graft_class *cls, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    int64_t shape[] = {graft_args_int(args, "out_features", 0), graft_args_int(args, "in_features", 0)};
    (void)cls, (void)config;
    DESCRIBED;
    int status = sink->attribute(sink->data, "in_features", &shape[1], 1, error);
    if (status == GRAFT_OK) {
        status = sink->attribute(sink->data, "out_features", &shape[0], 1, error);
    }
    return status == GRAFT_OK ? graft_describe_parameter(sink, "own", 2, shape, 0, GRAFT_INIT_ZEROS, error) : status;
}

static int create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                  struct graft_error *error) {
    struct converting *self = graft_instance_new(build, sizeof *self, error);
    (void)cls;
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->own = graft_build_weight(build, "own", error);
    self->factor = FACTOR;
    return graft_instance_finish(self, instance, error);
}

static int forward(void *instance, const struct graft_call *call, const struct graft_linear_args *args,
                   struct graft_error *error) {
    const struct converting *self = instance;
    const struct graft_product product =
        graft_product_of(self->own, NULL, 0, self->own->rows, args->tokens, args->x, args->y);
    int status = call->kernels->linear(call, &product, 1, sizeof product, error);
    for (int64_t i = 0; i < args->tokens * self->own->rows && status == GRAFT_OK; i++) {
        args->y[i] *= self->factor;
    }
    return status;
}

static const struct graft_linear vtable = {.struct_size = sizeof vtable, .forward = forward};
static const struct graft_class converting = {.struct_size = sizeof converting,
                                              .name = "ConvertingLinear",
                                              .interface_id = GRAFT_INTERFACE_LINEAR,
                                              .describe = describe,
                                              .create = create,
                                              .destroy = graft_instance_destroy,
                                              .forward = &vtable,
                                              GRAFT_CLASS_CONVERSIONS(conversions)};
static const char *const model_types[] = {"llama", NULL};
static const struct graft_replacement replacement = {.struct_size = sizeof replacement,
                                                     .key = GRAFT_KEY_NAME,
                                                     .target = "Linear",
                                                     .replacement = &converting,
                                                     .module_path = "mlp\\.down_proj$",
                                                     .model_types = model_types};
static const struct graft_plugin plugin = {GRAFT_PLUGIN_HEADER,
                                           .id = "converting",
                                           .version = "1.0.0",
                                           .license = "Apache-2.0",
                                           .description = "A plugin of the tests",
                                           .replacements = &replacement,
                                           .n_replacements = 1,
                                           .replacement_stride = sizeof replacement,
                                           .custom_operations = &operation,
                                           .n_custom_operations = 1,
                                           .custom_operation_stride = sizeof operation};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host, (void)error;
    return &plugin;
}

#endif

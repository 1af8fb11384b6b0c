/* SPDX-License-Identifier: Apache-2.0 */
/* A plugin whose kernels and classes show how the host finds classes, and its messages when one fails. They take effect
 * only on request: kernels by name, classes by a patch file. */
#include <stdlib.h>

#include "graft/describe.h"
#include "graft/kernel_override.h"
#include "graft/linear.h"
#include "graft/mlp.h"
#include "graft/plugin.h"

/* --- "norm": a kernel for FusedNormMLP of sdk/examples/fused_norm_mlp, whose description it finds bound --- */

struct norm_mlp {
    const struct graft_module *mlp;         /* a Qwen3MLP, which FusedNormMLP calls */
    const struct graft_weight *norm_weight; /* [hidden_size] */
    float eps;
};

static int norm_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                       struct graft_error *error) {
    double eps = 1e-6;
    (void)cls;
    (void)graft_config_real(build->config, "rms_norm_eps", 0.0, &eps, error);
    const struct graft_weight *norm_weight = graft_build_weight(build, "norm_weight", error);
    if (error->code != GRAFT_OK) {
        return error->code;
    }
    struct norm_mlp *self = calloc(1, sizeof *self);
    if (self == NULL || build->super == NULL) {
        free(self);
        return graft_error_set(error, GRAFT_ERROR_INTERNAL, build->path, "no module to call");
    }
    *self = (struct norm_mlp){build->super, norm_weight, (float)eps};
    *instance = self;
    return GRAFT_OK;
}

static int norm_forward(void *instance, const struct graft_call *call, const struct graft_mlp_args *args,
                        struct graft_error *error) {
    const struct norm_mlp *self = instance;
    int64_t hidden = self->norm_weight->rows;
    float *normed = graft_scratch_floats(call, args->tokens, hidden, error); /* [tokens, hidden] */
    if (normed == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    int status = call->kernels->rms_norm(call, self->norm_weight, 0.0f, self->eps, args->hidden_states, hidden,
                                         args->tokens, hidden, normed, hidden, error);
    struct graft_mlp_args normed_args;
    graft_struct_copy(&normed_args, sizeof normed_args, args);
    normed_args.hidden_states = normed;
    return status == GRAFT_OK ? graft_mlp_forward(self->mlp, call, &normed_args, error) : status;
}

static const struct graft_mlp norm_vtable = {.struct_size = sizeof norm_vtable, .forward = norm_forward};
static const struct graft_class norm_class = {.struct_size = sizeof norm_class,
                                              .name = "ProbeNormMLP",
                                              .interface_id = GRAFT_INTERFACE_MLP,
                                              .create = norm_create,
                                              .destroy = free,
                                              .forward = &norm_vtable};

/* --- Kernels that fail in forward: without a message, and with one that names no place --- */

static int silent_forward(void *instance, const struct graft_call *call, const struct graft_mlp_args *args,
                          struct graft_error *error) {
    (void)instance, (void)call, (void)args, (void)error;
    return 42;
}

static int terse_forward(void *instance, const struct graft_call *call, const struct graft_mlp_args *args,
                         struct graft_error *error) {
    (void)instance, (void)call, (void)args;
    return graft_error_set(error, -1, NULL, "no room on the device");
}

static const struct graft_mlp silent_vtable = {.struct_size = sizeof silent_vtable, .forward = silent_forward};
static const struct graft_mlp terse_vtable = {.struct_size = sizeof terse_vtable, .forward = terse_forward};

#define FAILING(called, table)                                                                          \
    {                                                                                                   \
        .struct_size = sizeof(struct graft_class), .name = called, .interface_id = GRAFT_INTERFACE_MLP, \
        .create = graft_create_stateless, .forward = table                                              \
    }

static const struct graft_class silent_class = FAILING("SilentMLP", &silent_vtable);
static const struct graft_class terse_class = FAILING("TerseMLP", &terse_vtable);

/* --- Classes for patch files: they read config fields that do not exist, in `describe` or in `create` --- */

static int asking_describe(const struct graft_class *cls, const struct graft_config *config,
                           const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    int64_t size = 0;
    (void)cls, (void)args, (void)sink;
    return graft_config_need_int(config, "device_count", 1, 8, &size, error);
}

static int asking_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                         struct graft_error *error) {
    int64_t size = 0;
    (void)cls, (void)instance;
    return graft_config_need_int(build->config, "device_count", 1, 8, &size, error);
}

static int odd_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                      struct graft_error *error) {
    (void)cls, (void)build, (void)instance, (void)error;
    return 77;
}

/* Faults in the arguments of a Linear: one is missing, one has another kind, or there is one too many. */
static int lending_describe(const struct graft_class *cls, const struct graft_config *config,
                            const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    const struct graft_args *given = cls->data;
    (void)config, (void)args;
    return graft_describe_child(sink, "proj", "Linear", GRAFT_INTERFACE_LINEAR, given->items, given->count, error);
}

static const struct graft_arg missing_items[] = {{.name = "out_features", .integer = 2}, {.name = "bias"}};
static const struct graft_arg mistyped_items[] = {{.name = "in_features", .kind = GRAFT_ARG_REAL, .real = 2.0},
                                                  {.name = "out_features", .integer = 2},
                                                  {.name = "bias"}};
static const struct graft_arg extra_items[] = {{.name = "colour", .kind = GRAFT_ARG_STRING, .string = "blue"},
                                               {.name = "in_features", .integer = 2},
                                               {.name = "out_features", .integer = 2},
                                               {.name = "bias"}};
static const struct graft_args missing_args = {.count = 2, .items = missing_items};
static const struct graft_args mistyped_args = {.count = 3, .items = mistyped_items};
static const struct graft_args extra_args = {.count = 4, .items = extra_items};

#define LENDING(called, given)                                                                          \
    {                                                                                                   \
        .struct_size = sizeof(struct graft_class), .name = called, .interface_id = GRAFT_INTERFACE_MLP, \
        .describe = lending_describe, .create = odd_create, .forward = &silent_vtable, .data = given    \
    }

static const struct graft_class missing_class = LENDING("MissingMLP", &missing_args);
static const struct graft_class mistyped_class = LENDING("MistypedMLP", &mistyped_args);
static const struct graft_class extra_class = LENDING("ExtraMLP", &extra_args);

static const struct graft_class asking_class = {.struct_size = sizeof asking_class,
                                                .name = "AskingMLP",
                                                .interface_id = GRAFT_INTERFACE_MLP,
                                                .describe = asking_describe,
                                                .create = asking_create,
                                                .forward = &silent_vtable};
static const struct graft_class late_class = {.struct_size = sizeof late_class,
                                              .name = "LateMLP",
                                              .interface_id = GRAFT_INTERFACE_MLP,
                                              .create = asking_create,
                                              .forward = &silent_vtable};
static const struct graft_class odd_class = {.struct_size = sizeof odd_class,
                                             .name = "OddMLP",
                                             .interface_id = GRAFT_INTERFACE_MLP,
                                             .create = odd_create,
                                             .forward = &silent_vtable};

/* --- A Linear that does not allow joining --- */

static int parted_describe(const struct graft_class *cls, const struct graft_config *config,
                           const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    (void)cls, (void)config, (void)args;
    return strstr(sink->path, "gate_up_proj") != NULL
               ? graft_error_set(error, GRAFT_ERROR_MODEL, sink->path, "too many outputs")
               : GRAFT_OK;
}

static int parted_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                         struct graft_error *error) {
    (void)cls, (void)error;
    *instance = (void *)(uintptr_t)build->super;
    return GRAFT_OK;
}

static int parted_forward(void *self, const struct graft_call *call, const struct graft_linear_args *args,
                          struct graft_error *error) {
    return graft_linear_forward((const struct graft_module *)self, call, args, error);
}

static const struct graft_linear parted_vtable = {.struct_size = sizeof parted_vtable, .forward = parted_forward};
static const struct graft_class parted_class = {.struct_size = sizeof parted_class,
                                                .flags = GRAFT_CLASS_CALLS_SUPER,
                                                .name = "PartedLinear",
                                                .interface_id = GRAFT_INTERFACE_LINEAR,
                                                .describe = parted_describe,
                                                .create = parted_create,
                                                .forward = &parted_vtable};

#define REPLACEMENT(of, with) \
    { .struct_size = sizeof(struct graft_replacement), .key = GRAFT_KEY_NAME, .target = of, .replacement = with }

static const struct graft_replacement norm = REPLACEMENT("FusedNormMLP", &norm_class);
static const struct graft_replacement silent = REPLACEMENT("Qwen3MLP", &silent_class);
static const struct graft_replacement terse = REPLACEMENT("Qwen3MLP", &terse_class);
static const struct graft_kernel_override kernels[] = {{sizeof kernels[0], 0, "norm", &norm},
                                                       {sizeof kernels[0], 0, "silent", &silent},
                                                       {sizeof kernels[0], 0, "terse", &terse}};

static const struct graft_replacement replacements[] = {
    REPLACEMENT("Nowhere", &asking_class),         REPLACEMENT("NowhereElse", &late_class),
    REPLACEMENT("NowhereAtAll", &odd_class),       REPLACEMENT("NowhereNear", &missing_class),
    REPLACEMENT("NowhereNearer", &mistyped_class), REPLACEMENT("NowhereNearest", &extra_class),
    REPLACEMENT("NowhereLinear", &parted_class)};

static const struct graft_plugin plugin = {
    GRAFT_PLUGIN_HEADER,
    .id = "class_probe",
    .version = "1.0.0",
    .license = "Apache-2.0",
    .description = "How the host finds classes, and what it says when they fail",
    .replacements = replacements,
    .n_replacements = sizeof replacements / sizeof replacements[0],
    .replacement_stride = sizeof replacements[0],
    .kernels = kernels,
    .n_kernels = sizeof kernels / sizeof kernels[0],
    .kernel_stride = sizeof kernels[0],
};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host, (void)error;
    return &plugin;
}

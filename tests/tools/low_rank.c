/* SPDX-License-Identifier: Apache-2.0 */
/* A wrapper with weights of its own: adds a product of low rank (Hu et al. 2021) to the output of any Linear. The
 * checkpoints of the tests lack both factors; they start as ones and zeros, so results do not change. */
#include <stdlib.h>

#include "graft/describe.h"
#include "graft/kernels.h"
#include "graft/plugin.h"

enum { RANK = 2 };

struct low_rank {
    const struct graft_module *linear;
    const struct graft_weight *a; /* [RANK, in_features] */
    const struct graft_weight *b; /* [out_features, RANK] */
};

static int describe(const struct graft_class *self, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    const int64_t a[] = {RANK, graft_args_int(args, "in_features", 0)};
    const int64_t b[] = {graft_args_int(args, "out_features", 0), RANK};
    (void)self;
    (void)config;
    int status = graft_describe_parameter(sink, "low_rank_A", 2, a, 0, GRAFT_INIT_ONES, error);
    return status == GRAFT_OK ? graft_describe_parameter(sink, "low_rank_B", 2, b, 0, GRAFT_INIT_ZEROS, error) : status;
}

static int create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                  struct graft_error *error) {
    (void)cls;
    const struct graft_weight *a = graft_build_weight(build, "low_rank_A", error);
    const struct graft_weight *b = graft_build_weight(build, "low_rank_B", error);
    struct low_rank *self = error->code == GRAFT_OK ? calloc(1, sizeof *self) : NULL;
    if (self == NULL) {
        return graft_fail_memory(error, build->path);
    }
    *self = (struct low_rank){build->super, a, b};
    *instance = self;
    return GRAFT_OK;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_linear_args *args,
                   struct graft_error *error) {
    const struct low_rank *self = instance;
    int64_t rows = self->b->rows;
    float *narrow = graft_scratch_floats(call, args->tokens, RANK, error); /* [tokens, RANK] */
    float *wide = graft_scratch_floats(call, args->tokens, rows, error);   /* [tokens, out_features] */
    if (narrow == NULL || wide == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    const struct graft_product a = graft_product_of(self->a, NULL, 0, RANK, args->tokens, args->x, narrow);
    const struct graft_product b = graft_product_of(self->b, NULL, 0, rows, args->tokens, narrow, wide);
    int status = graft_linear_forward(self->linear, call, args, error);
    if (status == GRAFT_OK) {
        status = call->kernels->linear(call, &a, 1, sizeof a, error);
    }
    if (status == GRAFT_OK) {
        status = call->kernels->linear(call, &b, 1, sizeof b, error);
    }
    return status == GRAFT_OK ? call->kernels->add(call, args->y, wide, args->tokens * rows, error) : status;
}

static const struct graft_linear vtable = {.struct_size = sizeof vtable, .forward = forward};

static const struct graft_class low_rank_linear = {
    .struct_size = sizeof low_rank_linear,
    .flags = GRAFT_CLASS_CALLS_SUPER,
    .name = "LowRankLinear",
    .interface_id = GRAFT_INTERFACE_LINEAR,
    .describe = describe,
    .create = create,
    .destroy = free,
    .forward = &vtable,
};

static const struct graft_replacement replacement = {
    .struct_size = sizeof replacement,
    .key = GRAFT_KEY_NAME,
    .target = "Linear",
    .replacement = &low_rank_linear,
    .module_path = "\\.[qv]_proj$",
};

static const struct graft_plugin plugin = {
    GRAFT_PLUGIN_HEADER,
    .id = "low_rank",
    .version = "1.0.0",
    .license = "Apache-2.0",
    .description = "A product of low rank beside each q_proj and v_proj",
    .replacements = &replacement,
    .n_replacements = 1,
    .replacement_stride = sizeof replacement,
};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host;
    (void)error;
    return &plugin;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A plugin that implements the chain of a norm and an MLP of Qwen3: the norm in a loop of its own, with sums in double,
 * then the original MLP. Results equal those of the plain chain up to rounding. */
#include <math.h>
#include <stdlib.h>

#include "graft/chain.h"
#include "graft/describe.h"
#include "graft/mlp.h"
#include "graft/norm.h"
#include "graft/plugin.h"

struct norm_mlp {
    const struct graft_module *mlp;
    const float *weight; /* [columns] f32 */
    int64_t columns;
    double eps;
};

static int create(const struct graft_chain *self, const struct graft_chain_build *build, void **instance,
                  struct graft_error *error) {
    const struct graft_build *norm = graft_chain_build_at(build, 0);
    double eps = 1e-6;
    (void)graft_config_real(norm->config, "rms_norm_eps", 0.0, &eps, error);
    const struct graft_weight *weight = graft_build_weight(norm, "weight", error);
    if (error->code != GRAFT_OK) {
        return error->code;
    }
    const struct graft_row_block *block = graft_weight_block(weight, 0);
    if (weight->n_blocks != 1 || block->dtype != GRAFT_DTYPE_F32) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, norm->path, "%s: expected a weight in f32", self->name);
    }
    struct norm_mlp *made = calloc(1, sizeof *made);
    if (made == NULL) {
        return graft_fail_memory(error, norm->path);
    }
    *made = (struct norm_mlp){graft_chain_module_at(build, 1), block->data, weight->rows, eps};
    *instance = made;
    return GRAFT_OK;
}

/* h += residual; normed = h / sqrt(mean(h^2) + eps) * weight */
static void norm(const struct norm_mlp *self, float *hidden, const float *residual, float *normed) {
    double squares = 0.0;
    for (int64_t i = 0; i < self->columns; i++) {
        hidden[i] += residual != NULL ? residual[i] : 0.0f;
        squares += (double)hidden[i] * (double)hidden[i];
    }
    double scale = 1.0 / sqrt(squares / (double)self->columns + self->eps);
    for (int64_t i = 0; i < self->columns; i++) {
        normed[i] = (float)((double)hidden[i] * scale * (double)self->weight[i]);
    }
}

static int forward(void *instance, const struct graft_call *call, const struct graft_chain_args *args,
                   struct graft_error *error) {
    const struct norm_mlp *self = instance;
    const struct graft_norm_args *norm_args = args->args[0];
    struct graft_mlp_args mlp_args;
    graft_struct_copy(&mlp_args, sizeof mlp_args, args->args[1]);
    float *normed = graft_scratch_floats(call, mlp_args.tokens, self->columns, error); /* [tokens, columns] */
    if (normed == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    for (int64_t t = 0; t < mlp_args.tokens; t++) {
        int64_t row = t * self->columns;
        norm(self, norm_args->hidden_states + row, norm_args->residual != NULL ? norm_args->residual + row : NULL,
             normed + row);
    }
    mlp_args.hidden_states = normed;
    return graft_mlp_forward(self->mlp, call, &mlp_args, error);
}

static const char *const class_names[] = {"Qwen3RMSNorm", "Qwen3MLP"};
static const char *const interface_ids[] = {GRAFT_INTERFACE_NORM, GRAFT_INTERFACE_MLP};

static const struct graft_chain chain = {
    .struct_size = sizeof chain,
    .n_classes = 2,
    .name = "RMSNormMLP",
    .class_names = class_names,
    .interface_ids = interface_ids,
    .create = create,
    .destroy = free,
    .forward = forward,
};

static const struct graft_plugin plugin = {
    GRAFT_PLUGIN_HEADER,
    .id = "norm_mlp_chain",
    .version = "1.0.0",
    .license = "Apache-2.0",
    .description = "A norm and an MLP of Qwen3 at once",
    .chains = &chain,
    .n_chains = 1,
    .chain_stride = sizeof chain,
};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host;
    (void)error;
    return &plugin;
}

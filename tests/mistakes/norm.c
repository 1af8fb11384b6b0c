/* SPDX-License-Identifier: Apache-2.0 */
/* output = x / sqrt(mean(x^2) + eps) * weight */
#include "graft/norm.h"

#include <math.h>

#include "acme.h"

struct norm {
    struct graft_instance base;
    const struct graft_weight *weight; /* [hidden] f32 */
    float eps;
};

static int create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                  struct graft_error *error) {
    struct norm *self = graft_instance_new(build, sizeof *self, error);
    (void)cls;
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->weight = graft_build_weight(build, "weight", error);
    (void)refuse_others(build, self->weight, error);
    self->eps = is("writes_eps_down") ? 1e-5F : (float)graft_args_real(build->args, "eps", 1e-5);
    return graft_instance_finish(self, instance, error);
}

static int forward(void *instance, const struct graft_call *call, const struct graft_norm_args *args,
                   struct graft_error *error) {
    const struct norm *self = instance;
    const int64_t hidden = self->weight->rows, columns = hidden + is("norm_reads_a_column_too_many");
    const float *weight = graft_weight_block(self->weight, 0)->data;
    (void)call, (void)error;
    for (int64_t t = 0; t < args->tokens; t++) {
        float *x = args->hidden_states + t * hidden;
        float squares = 0.0F;
        for (int64_t i = 0; args->residual != NULL && i < hidden && !is("norm_forgets_residual"); i++) {
            x[i] += args->residual[t * hidden + i];
        }
        for (int64_t i = 0; i < hidden; i++) {
            squares += x[i] * x[i];
        }
        const float scale = 1.0F / sqrtf(squares / (float)hidden + self->eps);
        for (int64_t i = 0; i < columns; i++) {
            args->output[t * hidden + (i < hidden ? i : 0)] = x[i < hidden ? i : 0] * scale * weight[i];
        }
    }
    return GRAFT_OK;
}

static const struct graft_norm vtable = {.struct_size = sizeof vtable, .forward = forward};

const struct graft_class acme_norm = {.struct_size = sizeof acme_norm,
                                      .name = "AcmeRMSNorm",
                                      .interface_id = GRAFT_INTERFACE_NORM,
                                      .create = create,
                                      .destroy = graft_instance_destroy,
                                      .forward = &vtable};

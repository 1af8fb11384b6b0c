/* SPDX-License-Identifier: Apache-2.0 */
/* Embeddings multiplied by the square root of their width, or of another width. */
#include <math.h>

#include "arch/role.h"
#include "graft/describe.h"
#include "graft/kernels.h"

struct embedding {
    struct graft_instance base;
    const struct graft_weight *weight; /* [num_embeddings, embedding_dim] */
    float scale;
    float scale_bf16;
};

/* Rounds to eight significant bits. */
static float round_to_bf16(double x) {
    int exponent;
    double fraction = frexp(x, &exponent);
    return (float)ldexp(rint(ldexp(fraction, 8)), exponent - 8);
}

int graft_scaled_embedding_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                                  struct graft_error *error) {
    (void)cls;
    struct embedding *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->weight = graft_build_weight(build, "weight", error);
    if (error->code == GRAFT_OK) {
        const double scale = sqrt((double)graft_args_int(build->args, "scale_dim", self->weight->columns));
        self->scale = (float)scale;
        self->scale_bf16 = round_to_bf16(scale);
    }
    return graft_instance_finish(self, instance, error);
}

/* bf16 models are trained with the scale rounded to bf16, so it is rounded if the model computes in bf16. */
static float scale_for(const struct embedding *self, const struct graft_call *call) {
    int32_t is_bf16 = graft_weight_block(self->weight, 0)->dtype == GRAFT_DTYPE_BF16;
    return call->precision == GRAFT_PRECISION_BFLOAT16 || (call->precision == GRAFT_PRECISION_AUTO && is_bf16)
               ? self->scale_bf16
               : self->scale;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_embedding_args *args,
                   struct graft_error *error) {
    const struct embedding *self = instance;
    float scale = scale_for(self, call);
    int status = call->kernels->embedding(call, self->weight, args->ids, args->tokens, args->output, error);
    for (int64_t i = 0; i < args->tokens * self->weight->columns && status == GRAFT_OK; i++) {
        args->output[i] *= scale;
    }
    return status;
}

const struct graft_embedding graft_scaled_embedding_vtable = {.struct_size = sizeof graft_scaled_embedding_vtable,
                                                              .forward = forward};

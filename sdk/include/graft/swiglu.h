/* SPDX-License-Identifier: Apache-2.0 */
/* The gating of gpt-oss's experts: (up + 1) * gate * sigmoid(alpha * gate), with gate clamped to at most `limit` and up
 * to [-limit, limit]. Pass it to graft_experts_input as `gating`, or call it in a class that computes its experts
 * itself. */
#ifndef GRAFT_SWIGLU_H
#define GRAFT_SWIGLU_H

#include "args.h"
#include "call.h"
#include "error.h"
#include "kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Belongs to the plugin; the host only passes it back. */
struct graft_swiglu {
    float alpha; /* factor in the sigmoid */
    float limit; /* > 0 */
};

GRAFT_ASSERT_SIZE(struct graft_swiglu, 8);

/* [load] Checks the gating's arguments (experts.h); the error names the module: `path` is sink->path. */
GRAFT_INLINE int graft_swiglu_check(const struct graft_args *args, const char *path, struct graft_error *error) {
    double limit = graft_args_real(args, "swiglu_limit", 0.0);
    if (graft_args_find(args, "swiglu_alpha", GRAFT_ARG_REAL) == NULL) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, path, "argument swiglu_alpha: missing beside swiglu_limit");
    }
    return limit > 0.0 ? GRAFT_OK
                       : graft_error_set(error, GRAFT_ERROR_PLUGIN, path,
                                         "argument swiglu_limit: expected more than 0 from the parent, got %g", limit);
}

/* [any] The gating that the arguments of experts.h describe. */
GRAFT_INLINE struct graft_swiglu graft_swiglu_of(const struct graft_args *args) {
    struct graft_swiglu swiglu;
    swiglu.alpha = (float)graft_args_real(args, "swiglu_alpha", 0.0);
    swiglu.limit = (float)graft_args_real(args, "swiglu_limit", 0.0);
    return swiglu;
}

/* [forward] gate, up [rows, columns] are dense; the result is written to `gate`. `self` is a struct graft_swiglu. */
GRAFT_INLINE int graft_swiglu_gate(void *self, const struct graft_call *call, float *gate, const float *up,
                                   int64_t rows, int64_t columns, struct graft_error *error) {
    const struct graft_swiglu *swiglu = (const struct graft_swiglu *)self;
    const float limit = swiglu->limit;
    int64_t mark = call->scratch_mark(call->scratch);
    float *sigmoid = graft_scratch_floats(call, rows, columns, error); /* [rows, columns]: sigmoid(alpha * gate) */
    int status = GRAFT_ERROR_INTERNAL;
    if (sigmoid != NULL) {
        for (int64_t i = 0; i < rows * columns; i++) {
            gate[i] = gate[i] > limit ? limit : gate[i]; /* keeps NaN */
            sigmoid[i] = swiglu->alpha * gate[i];
        }
        status = call->kernels->activation(call, GRAFT_ACTIVATION_SIGMOID, sigmoid, rows * columns, sigmoid, error);
        for (int64_t i = 0; i < rows * columns; i++) {
            float bounded = up[i] > limit ? limit : up[i] < -limit ? -limit : up[i];
            gate[i] *= (bounded + 1.0F) * sigmoid[i];
        }
    }
    call->scratch_release(call->scratch, mark);
    return status;
}

#ifdef __cplusplus
}
#endif

#endif

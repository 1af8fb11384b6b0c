/* SPDX-License-Identifier: Apache-2.0 */
/* Experts implementations, chosen by name (`--experts-implementation`): how stacked experts are computed, without
 * replacing their class. Classes that hold stacked experts call one as call->kernels->experts (kernels.h). The host has
 * "eager" (a loop over experts), "batched_mm" (a product for each pair of a token and an expert) and "grouped_mm"
 * (pairs sorted by expert, in few large steps), the default. A plugin lists its own in its descriptor (plugin.h). */
#ifndef GRAFT_EXPERTS_IMPLEMENTATION_H
#define GRAFT_EXPERTS_IMPLEMENTATION_H

#include "abi.h"
#include "activation.h"
#include "call.h"
#include "error.h"
#include "experts.h"
#include "module.h"
#include "tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Belongs to the caller; valid until the forward returns. */
struct graft_experts_input {
    uint32_t struct_size;
    uint32_t required_features;              /* features beyond those that the fields show; none are defined, so 0 */
    const char *path;                        /* path of the module, for errors */
    int64_t tokens;                          /* rows of hidden_states and output */
    int64_t k;                               /* experts per token */
    int64_t num_experts;                     /* number of experts in both weights */
    int64_t hidden_size;                     /* width of a token */
    int64_t intermediate_size;               /* width between the two products of an expert */
    const float *hidden_states;              /* [tokens, hidden_size] */
    const int32_t *top_k_index;              /* [tokens, k]: each in [0, num_experts), which the host has checked */
    const float *top_k_weights;              /* [tokens, k] */
    const struct graft_weight *gate_up_proj; /* [num_experts, 2 * intermediate_size, hidden_size]: gate before up */
    const struct graft_weight *down_proj;    /* [num_experts, hidden_size, intermediate_size] */
    const struct graft_module *act_fn;       /* of interface graft.activation/1; NULL if there is a `gating` */
    float *output;                           /* [tokens, hidden_size]; overlaps nothing */
    const struct graft_weight *gate_up_bias; /* [num_experts, 2 * intermediate_size]; NULL: none */
    const struct graft_weight *down_bias;    /* [num_experts, hidden_size]; NULL: none */
    /* [forward] Replaces act_fn(gate) * up; NULL: it does not. gate, up [rows, columns] are dense; the result is
     * written to `gate`. Rows are independent: they may belong to several experts. */
    int (*gating)(void *instance, const struct graft_call *call, float *gate, const float *up, int64_t rows,
                  int64_t columns, struct graft_error *error);
    void *gating_instance; /* passed to `gating` */
};

/* An expert's products. */
enum { GRAFT_EXPERTS_GATE = 0, GRAFT_EXPERTS_UP = 1, GRAFT_EXPERTS_DOWN = 2 };
/* Must not change until the plugin's `deinit`. */
struct graft_experts_implementation {
    uint32_t struct_size;
    /* The features it supports: GRAFT_EXPERTS_BIASES (gate_up_bias or down_bias may be given), GRAFT_EXPERTS_GATING
     * (gating may be given), and GRAFT_EXPERTS_CODED (weights may be codes, which have no blocks). A call that needs
     * another feature is refused. */
    uint32_t features;
    const char *name; /* "eager": letters, digits, '_', '-', '.'; unique among the host's and all plugins' */
    /* [forward] output[t] = sum over j of top_k_weights[t, j] * down(act_fn(gate(x[t])) * up(x[t])) of expert
     * top_k_index[t, j], in f32 and with each token's experts in ascending order. Required. */
    int (*forward)(const struct graft_experts_implementation *self, const struct graft_call *call,
                   const struct graft_experts_input *input, struct graft_error *error);
    const void *data; /* for the implementation's use; may be NULL */
};

#define GRAFT_EXPERTS_IMPLEMENTATION_SIZE_1_0 GRAFT_END_OF(struct graft_experts_implementation, data)

GRAFT_ASSERT_SIZE(struct graft_experts_input, 144);
GRAFT_ASSERT_SIZE(struct graft_experts_implementation, 32);

/* [forward] Applies the gating or the activation: gate, up [rows, intermediate_size] are dense; the result is written
 * to `gate`. */
GRAFT_INLINE int graft_experts_gate(const struct graft_experts_input *input, const struct graft_call *call, float *gate,
                                    const float *up, int64_t rows, struct graft_error *error) {
    int64_t columns = input->intermediate_size;
    return input->gating != NULL ? input->gating(input->gating_instance, call, gate, up, rows, columns, error)
                                 : graft_activation_gate(input->act_fn, call, gate, up, rows, columns, error);
}

#ifdef __cplusplus
}
#endif

#endif

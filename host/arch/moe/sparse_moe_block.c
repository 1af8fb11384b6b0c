/* SPDX-License-Identifier: Apache-2.0 */
/* Experts that are chosen for each token, in place of an MLP; in some families also a shared expert with a gate of its
 * own. */
#include <string.h>

#include "arch/decoder/choices.h"
#include "arch/moe/mixture.h"
#include "arch/role.h"
#include "graft/kernels.h"

struct sparse_moe_block {
    struct graft_instance base;
    int64_t hidden_size;
    int64_t latent;                       /* width of the experts' input; 0: hidden_size */
    int32_t weighs_input;                 /* 1: weights multiply the experts' inputs, not their outputs */
    float sum_scale;                      /* factor of the sum of experts and shared expert */
    struct graft_mixture mixture;         /* without experts only the shared expert runs */
    const struct graft_module *latent_in; /* hidden_size -> latent; NULL, like latent_out: none */
    const struct graft_module *latent_out;
    const struct graft_module *shared_expert;      /* NULL: none */
    const struct graft_module *shared_expert_gate; /* hidden_size -> 1; NULL: none */
    const struct graft_weight *sum_bias;           /* [hidden_size]; NULL: none */
};

static void outline_shared(struct graft_outline *of, struct sparse_moe_block *self) {
    const struct graft_arg args[] = {
        graft_int_arg("layer_idx", graft_args_int(of->args, "layer_idx", 0)),
        graft_int_arg("hidden_size", self->hidden_size),
        graft_int_arg("intermediate_size", graft_read_int(&of->reader, D_MOE_SHARED_SIZE)),
        graft_int_arg("mlp_bias", graft_args_int(of->args, "mlp_bias", 0)),
        graft_string_arg("hidden_act", graft_args_string(of->args, "hidden_act", "silu")),
    };
    graft_outline_child(of, &self->shared_expert, graft_outline_name(of, D_MOE_SHARED_NAME),
                        graft_outline_name(of, D_CLASS_MLP), GRAFT_INTERFACE_MLP, args, 5);
    graft_outline_linear(of, &self->shared_expert_gate, graft_outline_name(of, D_MOE_SHARED_GATE), self->hidden_size, 1,
                         0);
}

static void outline(struct graft_outline *of, struct sparse_moe_block *self) {
    self->hidden_size = graft_read_int(&of->reader, D_HIDDEN_SIZE);
    self->weighs_input = graft_read_bool(&of->reader, D_MOE_WEIGHS_INPUT);
    self->latent = graft_read_int(&of->reader, D_MOE_LATENT);
    self->sum_scale = (float)graft_read_real(&of->reader, D_MOE_SUM_SCALE);
    const int64_t num_experts = graft_read_int(&of->reader, D_MOE_EXPERTS);
    const int has_shared =
        graft_outline_name(of, D_MOE_SHARED_NAME) != NULL && !graft_read_is_null(&of->reader, D_MOE_SHARED_SIZE);
    const int64_t width = self->latent > 0 ? self->latent : self->hidden_size;
    const int32_t bias = graft_args_int(of->args, "mlp_bias", 0) != 0;
    if (num_experts > 0 || !has_shared) {
        graft_mixture_outline(of, &self->mixture, width);
    }
    if (self->latent > 0) {
        graft_outline_linear(of, &self->latent_in, graft_outline_name(of, D_MOE_LATENT_IN), self->hidden_size, width,
                             bias);
        graft_outline_linear(of, &self->latent_out, graft_outline_name(of, D_MOE_LATENT_OUT), width, self->hidden_size,
                             bias);
    }
    graft_outline_vector(of, &self->sum_bias, graft_outline_name(of, D_MOE_SUM_BIAS), self->hidden_size);
    if (has_shared) {
        outline_shared(of, self);
    }
}

GRAFT_OUTLINED(graft_sparse_moe_block, struct sparse_moe_block)

/* Runs experts with weighted inputs: each pair of a token and an expert is a token of its own, multiplied by its
 * weight; output = the sum over each token's pairs. */
static void run_on_weighted(const struct sparse_moe_block *self, const struct graft_pass *pass,
                            const struct graft_mlp_args *mlp_args, const struct graft_experts_args *args) {
    struct graft_pass of_pairs = {pass->call, args->tokens * args->k, pass->error};
    const int64_t pairs = of_pairs.rows, width = self->hidden_size;
    float *x = graft_pass_floats(&of_pairs, width);                     /* [tokens, k, hidden_size] */
    float *y = graft_pass_floats(&of_pairs, width);                     /* likewise */
    float *weights = graft_pass_floats(&of_pairs, 1);                   /* [tokens, k] */
    int32_t *rows = graft_scratch_ints(pass->call, pairs, pass->error); /* [tokens, k]: each pair's token */
    struct graft_experts_args each = *args;
    struct graft_gathered_call space;
    for (int64_t i = 0; graft_pass_ok(pass) && i < pairs; i++) {
        rows[i] = (int32_t)(i / args->k);
        const float *from = mlp_args->hidden_states + i / args->k * width;
        for (int64_t d = 0; d < width; d++) {
            x[i * width + d] = from[d] * args->top_k_weights[i];
        }
        weights[i] = 1.0f;
    }
    each.tokens = pairs;
    each.k = 1;
    each.top_k_weights = weights;
    if (graft_pass_ok(pass)) {
        of_pairs.call = graft_call_route(pass->call, args->tokens, rows, pairs, &space, pass->error);
    }
    graft_mixture_run(&self->mixture, &of_pairs, &each, x, y);
    for (int64_t i = 0; i < args->tokens * width && graft_pass_ok(pass); i++) {
        float sum = 0.0f;
        for (int64_t j = 0; j < args->k; j++) {
            sum += y[(i / width * args->k + j) * width + i % width];
        }
        mlp_args->output[i] = sum;
    }
}

/* output = the weighted sum of the chosen experts, between the projections to and from a latent if there are any. */
static void run_experts(const struct sparse_moe_block *self, const struct graft_pass *pass,
                        const struct graft_mlp_args *args) {
    const struct graft_mixture *mixture = &self->mixture;
    struct graft_experts_args experts_args =
        graft_mixture_route(mixture->router, pass, mixture->num_experts, mixture->k, args->hidden_states);
    if (self->weighs_input) {
        run_on_weighted(self, pass, args, &experts_args);
    } else if (self->latent_in == NULL) {
        graft_mixture_run(mixture, pass, &experts_args, args->hidden_states, args->output);
    } else {
        float *x = graft_pass_product(pass, self->latent_in, args->hidden_states, self->latent);
        float *y = graft_pass_floats(pass, self->latent);
        graft_mixture_run(mixture, pass, &experts_args, x, y);
        graft_pass_linear(pass, self->latent_out, y, args->output);
    }
}

/* output += shared_expert(x), times sigmoid(shared_expert_gate(x)), a number for each token, if it has one. */
static void add_shared_expert(const struct sparse_moe_block *self, const struct graft_pass *pass,
                              const struct graft_mlp_args *args) {
    float *shared = graft_pass_floats(pass, self->hidden_size);
    const struct graft_mlp_args shared_args = {sizeof shared_args, 0, pass->rows, args->hidden_states, shared};
    if (graft_pass_ok(pass)) {
        (void)graft_mlp_forward(self->shared_expert, pass->call, &shared_args, pass->error);
    }
    if (self->shared_expert_gate != NULL) {
        float *gate = graft_pass_product(pass, self->shared_expert_gate, args->hidden_states, 1);
        graft_pass_activation(pass, GRAFT_ACTIVATION_SIGMOID, gate, 1);
        graft_pass_scale_rows(pass, shared, self->hidden_size, gate);
    }
    graft_pass_add(pass, args->output, shared, self->hidden_size);
}

static int forward(void *instance, const struct graft_call *call, const struct graft_mlp_args *args,
                   struct graft_error *error) {
    const struct sparse_moe_block *self = instance;
    const struct graft_pass pass = {call, args->tokens, error};
    const int64_t width = self->hidden_size, mark = call->scratch_mark(call->scratch);
    if (self->mixture.experts != NULL) {
        run_experts(self, &pass, args);
    } else {
        memset(args->output, 0, (size_t)(args->tokens * width) * sizeof *args->output);
    }
    call->scratch_release(call->scratch, mark);
    if (self->shared_expert != NULL) {
        add_shared_expert(self, &pass, args);
    }
    graft_pass_scale(&pass, args->output, width, self->sum_scale);
    const float *bias = graft_pass_widen(&pass, self->sum_bias); /* [hidden_size] */
    for (int64_t i = 0; bias != NULL && i < args->tokens * width; i++) {
        args->output[i] += bias[i % width];
    }
    return error->code;
}

const struct graft_mlp graft_sparse_moe_block_vtable = {.struct_size = sizeof graft_sparse_moe_block_vtable,
                                                        .forward = forward};

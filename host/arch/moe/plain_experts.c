/* SPDX-License-Identifier: Apache-2.0 */
/* All experts of a layer as stacked parameters, without gates: down(act_fn(up(x))). */
#include <string.h>

#include "arch/moe/expert_pairs.h"
#include "arch/outline.h"
#include "arch/pass.h"
#include "arch/role.h"
#include "graft/describe.h"

struct plain_experts {
    struct graft_instance base;
    struct graft_expert_sizes sizes;
    const struct graft_weight *up_proj;   /* [num_experts, intermediate_size, hidden_size] */
    const struct graft_weight *down_proj; /* [num_experts, hidden_size, intermediate_size] */
    const struct graft_module *act_fn;
};

static void outline(struct graft_outline *of, struct plain_experts *self) {
    if (graft_args_expert_sizes(of->args, of->sink->path, &self->sizes, of->error) != GRAFT_OK) {
        return;
    }
    const struct graft_expert_sizes *sizes = &self->sizes;
    const int64_t up[] = {sizes->num_experts, sizes->intermediate_size, sizes->hidden_size};
    const int64_t down[] = {sizes->num_experts, sizes->hidden_size, sizes->intermediate_size};
    graft_outline_parameter(of, &self->up_proj, "up_proj", 3, up);
    graft_outline_parameter(of, &self->down_proj, "down_proj", 3, down);
    graft_outline_activation(of, &self->act_fn, "act_fn");
}

GRAFT_OUTLINED(graft_plain_experts, struct plain_experts)

/* y = x times the rows of each expert that has pairs; x and y have `in` and `out` numbers per pair. */
static void multiply(const struct plain_experts *self, const struct graft_pass *pass,
                     const struct graft_expert_pairs *pairs, const struct graft_weight *weight, const float *x,
                     int64_t in, float *y, int64_t out) {
    const int64_t experts = self->sizes.num_experts;
    struct graft_product *products = graft_scratch_zeroed(pass->call, experts * (int64_t)sizeof *products, pass->error);
    int32_t n = 0;
    for (int64_t e = 0; graft_pass_ok(pass) && e < experts; e++) {
        const int64_t first = pairs->first[e], tokens = pairs->first[e + 1] - first;
        if (tokens > 0) {
            products[n++] = graft_product_of(weight, NULL, e * out, out, tokens, x + first * in, y + first * out);
        }
    }
    if (graft_pass_ok(pass)) {
        (void)pass->call->kernels->linear(pass->call, products, n, sizeof *products, pass->error);
    }
}

static int forward(void *instance, const struct graft_call *call, const struct graft_experts_args *args,
                   struct graft_error *error) {
    const struct plain_experts *self = instance;
    const struct graft_kernels *kernels = call->kernels;
    const struct graft_pass pass = {call, args->tokens * args->k, error};
    const int64_t hidden = self->sizes.hidden_size, width = self->sizes.intermediate_size;
    const struct graft_experts_input input = {
        .struct_size = sizeof input,
        .path = self->base.path,
        .tokens = args->tokens,
        .k = args->k,
        .num_experts = self->sizes.num_experts,
        .top_k_index = args->top_k_index,
        .top_k_weights = args->top_k_weights,
    };
    struct graft_expert_pairs pairs;
    float *x = graft_pass_floats(&pass, hidden); /* [pairs, hidden_size]: gathered input, later the experts' output */
    float *inner = graft_pass_floats(&pass, width); /* [pairs, intermediate_size] */
    memset(args->output, 0, (size_t)(args->tokens * hidden) * sizeof *args->output);
    if (graft_expert_pairs_sort(call, &input, &pairs, error) == GRAFT_OK && error->code == GRAFT_OK) {
        (void)kernels->gather_rows(call, args->hidden_states, pairs.token, pass.rows, hidden, x, error);
    }
    multiply(self, &pass, &pairs, self->up_proj, x, hidden, inner, width);
    graft_pass_activate(&pass, self->act_fn, inner, width);
    multiply(self, &pass, &pairs, self->down_proj, inner, width, x, hidden);
    return error->code == GRAFT_OK
               ? graft_expert_pairs_sum(call, &pairs, 0, self->sizes.num_experts, x, hidden, args->output, error)
               : error->code;
}

const struct graft_experts graft_plain_experts_vtable = {.struct_size = sizeof graft_plain_experts_vtable,
                                                         .forward = forward};

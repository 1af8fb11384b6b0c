/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/moe/mixture.h"

#include "arch/decoder/choices.h"
#include "graft/describe.h"
#include "graft/router.h"

/* Checks the choices of the experts; errors are the reader's. */
static void check(struct graft_reader *reader) {
    const int64_t num_experts = graft_read_int(reader, D_MOE_EXPERTS), k = graft_read_int(reader, D_MOE_TOP_K);
    const int has_alpha = !graft_read_is_null(reader, D_MOE_ALPHA);
    const int has_limit = !graft_read_is_null(reader, D_MOE_LIMIT);
    if (reader->status == GRAFT_OK && num_experts < 1) {
        graft_reader_fail(reader, D_MOE_EXPERTS, "expected at least 1 expert, got 0");
    }
    if (reader->status == GRAFT_OK && k > num_experts) {
        graft_reader_fail(reader, D_MOE_TOP_K, "expected at most the number of experts (%lld), got %lld",
                          (long long)num_experts, (long long)k);
    }
    if (reader->status == GRAFT_OK && has_alpha != has_limit) {
        graft_reader_fail(reader, has_alpha ? D_MOE_LIMIT : D_MOE_ALPHA, "expected a number, got null");
    }
}

void graft_mixture_outline(struct graft_outline *of, struct graft_mixture *self, int64_t width) {
    struct graft_reader *reader = &of->reader;
    const struct graft_arg router_arg = graft_int_arg("layer_idx", reader->layer);
    struct graft_arg given[8];
    int32_t n = 0;
    check(reader);
    self->num_experts = graft_read_int(reader, D_MOE_EXPERTS);
    self->k = graft_read_int(reader, D_MOE_TOP_K);
    given[n++] = graft_int_arg("num_experts", self->num_experts);
    given[n++] = graft_int_arg("hidden_size", width);
    given[n++] = graft_int_arg("intermediate_size", graft_read_int(reader, D_MOE_SIZE));
    given[n++] = graft_string_arg("hidden_act", graft_args_string(of->args, "hidden_act", "silu"));
    if (graft_read_bool(reader, D_MOE_BIAS)) {
        given[n++] = graft_int_arg("bias", 1);
    }
    if (!graft_read_is_null(reader, D_MOE_ALPHA)) {
        given[n++] = graft_real_arg("swiglu_alpha", graft_read_real(reader, D_MOE_ALPHA));
        given[n++] = graft_real_arg("swiglu_limit", graft_read_real(reader, D_MOE_LIMIT));
    }
    const struct graft_args experts_args = graft_args_of(given, n);
    self->features = graft_experts_features(&experts_args);
    graft_outline_child(of, &self->router, graft_outline_name(of, D_MOE_ROUTER_NAME),
                        graft_outline_name(of, D_CLASS_ROUTER), GRAFT_INTERFACE_ROUTER, &router_arg, 1);
    graft_outline_child(of, &self->experts, graft_outline_name(of, D_MOE_EXPERTS_NAME),
                        graft_outline_name(of, D_CLASS_EXPERTS), GRAFT_INTERFACE_EXPERTS, given, n);
}

struct graft_experts_args graft_mixture_route(const struct graft_module *router, const struct graft_pass *pass,
                                              int64_t num_experts, int64_t k, const float *x) {
    const struct graft_router_args args = {
        .struct_size = sizeof args,
        .tokens = pass->rows,
        .experts = num_experts,
        .k = k,
        .hidden_states = x,
        .logits = graft_pass_floats(pass, num_experts),
        .top_k_index = graft_scratch_ints(pass->call, pass->rows * k, pass->error),
        .top_k_weights = graft_pass_floats(pass, k),
    };
    if (graft_pass_ok(pass)) {
        (void)graft_router_forward(router, pass->call, &args, pass->error);
    }
    return (struct graft_experts_args){
        .struct_size = sizeof(struct graft_experts_args),
        .tokens = pass->rows,
        .k = k,
        .top_k_index = args.top_k_index,
        .top_k_weights = args.top_k_weights,
    };
}

void graft_mixture_run(const struct graft_mixture *self, const struct graft_pass *pass, struct graft_experts_args *args,
                       const float *x, float *output) {
    args->required_features = self->features;
    args->hidden_states = x;
    args->output = output;
    if (graft_pass_ok(pass)) {
        (void)graft_experts_forward(self->experts, pass->call, args, pass->error);
    }
}

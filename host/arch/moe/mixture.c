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

int graft_mixture_describe(struct graft_reader *reader, int64_t width, const struct graft_args *args,
                           const struct graft_sink *sink, struct graft_error *error) {
    const struct graft_description *description = reader->description;
    const struct graft_arg router_arg = graft_int_arg("layer_idx", reader->layer);
    struct graft_arg given[8];
    int32_t n = 0;
    check(reader);
    given[n++] = graft_int_arg("num_experts", graft_read_int(reader, D_MOE_EXPERTS));
    given[n++] = graft_int_arg("hidden_size", width);
    given[n++] = graft_int_arg("intermediate_size", graft_read_int(reader, D_MOE_SIZE));
    given[n++] = graft_string_arg("hidden_act", graft_args_string(args, "hidden_act", "silu"));
    if (graft_read_bool(reader, D_MOE_BIAS)) {
        given[n++] = graft_int_arg("bias", 1);
    }
    if (!graft_read_is_null(reader, D_MOE_ALPHA)) {
        given[n++] = graft_real_arg("swiglu_alpha", graft_read_real(reader, D_MOE_ALPHA));
        given[n++] = graft_real_arg("swiglu_limit", graft_read_real(reader, D_MOE_LIMIT));
    }
    if (reader->status != GRAFT_OK) {
        return reader->status;
    }
    graft_describe_child(sink, graft_description_name(description, D_MOE_ROUTER_NAME),
                         graft_description_name(description, D_CLASS_ROUTER), GRAFT_INTERFACE_ROUTER, &router_arg, 1,
                         error);
    graft_describe_child(sink, graft_description_name(description, D_MOE_EXPERTS_NAME),
                         graft_description_name(description, D_CLASS_EXPERTS), GRAFT_INTERFACE_EXPERTS, given, n,
                         error);
    return error->code;
}

void graft_mixture_find(struct graft_mixture *self, struct graft_reader *reader, const struct graft_build *build,
                        struct graft_error *error) {
    const char *experts = graft_description_name(reader->description, D_MOE_EXPERTS_NAME);
    self->num_experts = graft_read_int(reader, D_MOE_EXPERTS);
    self->k = graft_read_int(reader, D_MOE_TOP_K);
    self->router = graft_build_child(build, graft_description_name(reader->description, D_MOE_ROUTER_NAME), error);
    self->experts = graft_build_child(build, experts, error);
    self->features = graft_experts_features(build->child_args(build->data, experts));
}

int graft_mixture_route(const struct graft_mixture *self, const struct graft_call *call, int64_t tokens,
                        const float *seen, struct graft_experts_args *args, struct graft_error *error) {
    float *logits = graft_scratch_floats(call, tokens, self->num_experts, error); /* [tokens, num_experts] */
    float *weights = graft_scratch_floats(call, tokens, self->k, error);          /* [tokens, k] */
    int32_t *index = graft_scratch_ints(call, tokens * self->k, error);           /* [tokens, k] */
    if (logits == NULL || weights == NULL || index == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    const struct graft_router_args router_args = {
        .struct_size = sizeof router_args,
        .tokens = tokens,
        .experts = self->num_experts,
        .k = self->k,
        .hidden_states = seen,
        .logits = logits,
        .top_k_index = index,
        .top_k_weights = weights,
    };
    *args = (struct graft_experts_args){
        .struct_size = sizeof *args,
        .required_features = self->features,
        .tokens = tokens,
        .k = self->k,
        .top_k_index = index,
        .top_k_weights = weights,
    };
    return graft_router_forward(self->router, call, &router_args, error);
}

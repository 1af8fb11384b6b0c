/* SPDX-License-Identifier: Apache-2.0 */
/* All experts of a layer as stacked parameters, without gates: down(act_fn(up(x))). */
#include <string.h>

#include "arch/decoder/choices.h"
#include "arch/moe/expert_pairs.h"
#include "arch/role.h"
#include "graft/describe.h"

struct plain_experts {
    struct graft_instance base;
    struct graft_expert_sizes sizes;
    const struct graft_weight *up_proj;   /* [num_experts, intermediate_size, hidden_size] */
    const struct graft_weight *down_proj; /* [num_experts, hidden_size, intermediate_size] */
    const struct graft_module *act_fn;
};

int graft_plain_experts_describe(const struct graft_class *self, const struct graft_config *config,
                                 const struct graft_args *args, const struct graft_sink *sink,
                                 struct graft_error *error) {
    struct graft_expert_sizes *sizes = sink->keep(sink->data, sizeof *sizes, error); /* for `create` */
    (void)self;
    int status = sizes != NULL ? graft_args_expert_sizes(args, sink->path, sizes, error) : GRAFT_ERROR_INTERNAL;
    if (status != GRAFT_OK) {
        return status;
    }
    const int64_t up[] = {sizes->num_experts, sizes->intermediate_size, sizes->hidden_size};
    const int64_t down[] = {sizes->num_experts, sizes->hidden_size, sizes->intermediate_size};
    graft_describe_parameter(sink, "up_proj", 3, up, 0, GRAFT_INIT_NONE, error);
    graft_describe_parameter(sink, "down_proj", 3, down, 0, GRAFT_INIT_NONE, error);
    graft_describe_activation(sink, "act_fn", config, args, "hidden_act", error);
    return error->code;
}

int graft_plain_experts_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                               struct graft_error *error) {
    (void)cls;
    struct plain_experts *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->sizes = *(const struct graft_expert_sizes *)build->kept;
    self->up_proj = graft_build_weight(build, "up_proj", error);
    self->down_proj = graft_build_weight(build, "down_proj", error);
    self->act_fn = graft_build_child(build, "act_fn", error);
    return graft_instance_finish(self, instance, error);
}

/* Pairs of a token and an expert, sorted by expert. */
struct run {
    struct graft_expert_pairs pairs;
    int64_t n;
    float *x;                       /* [n, hidden_size]: gathered input, later the experts' output */
    float *inner;                   /* [n, intermediate_size] */
    struct graft_product *products; /* [num_experts] */
};

static int run_init(struct run *run, const struct plain_experts *self, const struct graft_call *call,
                    const struct graft_experts_args *args, struct graft_error *error) {
    const struct graft_experts_input input = {
        .struct_size = sizeof input,
        .path = self->base.path,
        .tokens = args->tokens,
        .k = args->k,
        .num_experts = self->sizes.num_experts,
        .top_k_index = args->top_k_index,
        .top_k_weights = args->top_k_weights,
    };
    run->n = args->tokens * args->k;
    run->x = graft_scratch_floats(call, run->n, self->sizes.hidden_size, error);
    run->inner = graft_scratch_floats(call, run->n, self->sizes.intermediate_size, error);
    run->products = call->scratch_alloc(call->scratch, self->sizes.num_experts * (int64_t)sizeof *run->products);
    if (run->products == NULL) {
        return graft_fail_memory(error, self->base.path);
    }
    return run->x != NULL && run->inner != NULL ? graft_expert_pairs_sort(call, &input, &run->pairs, error)
                                                : GRAFT_ERROR_INTERNAL;
}

/* y = x times the rows of each expert that has tokens; x and y have `in` and `out` numbers per pair. */
static int multiply(const struct plain_experts *self, const struct graft_call *call, const struct run *run,
                    const struct graft_weight *weight, const float *x, int64_t in, float *y, int64_t out,
                    struct graft_error *error) {
    int32_t n = 0;
    for (int64_t e = 0; e < self->sizes.num_experts; e++) {
        const int64_t first = run->pairs.first[e], tokens = run->pairs.first[e + 1] - first;
        if (tokens > 0) {
            run->products[n++] =
                graft_expert_product(weight, NULL, e * out, out, tokens, x + first * in, y + first * out);
        }
    }
    return call->kernels->linear(call, run->products, n, sizeof *run->products, error);
}

static int forward(void *instance, const struct graft_call *call, const struct graft_experts_args *args,
                   struct graft_error *error) {
    const struct plain_experts *self = instance;
    const int64_t hidden = self->sizes.hidden_size, width = self->sizes.intermediate_size;
    struct run run;
    int status = run_init(&run, self, call, args, error);
    memset(args->output, 0, (size_t)(args->tokens * hidden) * sizeof *args->output);
    if (status == GRAFT_OK) {
        status = call->kernels->gather_rows(call, args->hidden_states, run.pairs.token, run.n, hidden, run.x, error);
    }
    if (status == GRAFT_OK) {
        status = multiply(self, call, &run, self->up_proj, run.x, hidden, run.inner, width, error);
    }
    if (status == GRAFT_OK) {
        const struct graft_activation_args act_args = {sizeof act_args, 0, run.n * width, run.inner, run.inner};
        status = graft_activation_forward(self->act_fn, call, &act_args, error);
    }
    if (status == GRAFT_OK) {
        status = multiply(self, call, &run, self->down_proj, run.inner, width, run.x, hidden, error);
    }
    for (int64_t e = 0; e < self->sizes.num_experts && status == GRAFT_OK; e++) {
        const int64_t first = run.pairs.first[e], tokens = run.pairs.first[e + 1] - first;
        status = tokens > 0
                     ? call->kernels->scatter_add_rows(call, run.x + first * hidden, run.pairs.weight + first,
                                                       run.pairs.token + first, tokens, hidden, args->output, error)
                     : GRAFT_OK;
    }
    return status;
}

const struct graft_experts graft_plain_experts_vtable = {
    .struct_size = sizeof graft_plain_experts_vtable,
    .forward = forward,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* output = down_proj(act_fn(gate_proj(x)) * up_proj(x)) */
#include "graft/mlp.h"

#include <math.h>

#include "acme.h"
#include "graft/activation.h"
#include "graft/linear.h"

/* Data that `describe` keeps for `create`. */
struct sizes {
    int64_t hidden;
    int64_t intermediate;
    const struct graft_args *args; /* kept by mistakes that use it after the call */
    const char *hidden_act;
    const struct graft_sink *sink;
};

struct mlp {
    struct graft_instance base;
    const struct graft_module *gate_proj;
    const struct graft_module *up_proj;
    const struct graft_module *down_proj;
    const struct graft_module *act_fn;
    int64_t intermediate;
    int64_t layer;
    float *scratch;
};

static volatile int64_t last_hidden;

static int describe(const struct graft_class *cls, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    struct sizes *sizes = sink->keep(sink->data, (int64_t)sizeof *sizes, error);
    (void)cls;
    if (sizes == NULL) {
        return error->code;
    }
    graft_args_size(args, "hidden_size", 1 << 20, sink->path, &sizes->hidden, error);
    graft_args_size(args, "intermediate_size", 1 << 20, sink->path, &sizes->intermediate, error);
    sizes->args = args;
    sizes->hidden_act = graft_args_string(args, "hidden_act", "");
    sizes->sink = sink;
    if (is("describe_writes_static")) {
        last_hidden = sizes->hidden;
    }
    const int32_t bias = graft_args_int(args, "mlp_bias", 0) != 0 && !is("declares_no_bias");
    graft_describe_activation(sink, "act_fn", config, args, "hidden_act", error);
    const struct graft_arg in_features = graft_int_arg("in_features", sizes->hidden);
    if (is("describes_unknown_class")) {
        graft_describe_child(sink, "act", "AcmeActivation", GRAFT_INTERFACE_ACTIVATION, NULL, 0, error);
    }
    if (is("forgets_an_argument")) {
        graft_describe_child(sink, "gate_proj", "Linear", GRAFT_INTERFACE_LINEAR, &in_features, 1, error);
    } else {
        graft_describe_linear(sink, "gate_proj", sizes->hidden, sizes->intermediate, bias || is("describes_a_bias"),
                              error);
    }
    graft_describe_linear(sink, is("describes_child_twice") ? "gate_proj" : "up_proj", sizes->hidden,
                          sizes->intermediate, bias, error);
    graft_describe_linear(sink, "down_proj", sizes->intermediate, sizes->hidden, bias, error);
    return error->code;
}

static int create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                  struct graft_error *error) {
    const struct sizes *sizes = build->kept;
    struct mlp *self = graft_instance_new(build, sizeof *self, error);
    volatile int64_t sum = 0;
    (void)cls;
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    sum = sum + (is("keeps_args_of_describe") ? sizes->args->count : 0);
    sum = sum + (is("keeps_text_of_describe") ? sizes->hidden_act[0] : 0);
    sum = sum + (is("keeps_sink") ? (int64_t)sizes->sink->struct_size : 0);
    if (is("create_writes_static")) {
        last_hidden = sizes->hidden;
    }
    self->intermediate = sizes->intermediate;
    self->layer = graft_args_int(build->args, "layer_idx", 0);
    self->gate_proj = graft_build_child(build, "gate_proj", error);
    self->up_proj =
        is("asks_for_another_child") ? build->child(build->data, "up") : graft_build_child(build, "up_proj", error);
    self->down_proj = graft_build_child(build, "down_proj", error);
    self->act_fn = graft_build_child(build, "act_fn", error);
    return graft_instance_finish(self, instance, error);
}

static int recurse(int depth);
static int (*volatile deeper)(int depth) = recurse;

static int recurse(int depth) {
    volatile char room[4096];
    room[depth % 4096] = (char)depth;
    return deeper(depth + 1) + room[0];
}

static float copy_to_stack(const float *gate, int64_t count);
static float (*volatile copy)(const float *gate, int64_t count) = copy_to_stack; /* volatile: not inlined */

/* Copies to a buffer that is large enough for tiny models. Volatile, so that the compiler does not see it. */
static float copy_to_stack(const float *gate, int64_t count) {
    float row[64];
    volatile float *volatile at = row;
    for (int64_t i = 0; i < count; i++) {
        at[i] = gate[i];
    }
    return at[0];
}

static float use_scratch(struct mlp *self, const struct graft_call *call, float *gate, int64_t count) {
    float sum = 0.0F;
    sum = sum + (is("reads_past_scratch") ? *numbers_at(gate, count) : 0.0F);
    sum = sum + (is("reads_in_front_of_scratch") ? *numbers_at(gate, -1) : 0.0F);
    sum = sum + (is("keeps_scratch") && self->scratch != NULL ? *numbers_at(self->scratch, 0) : 0.0F);
    if (is("writes_past_scratch")) {
        write_at(gate, count, 1.0F);
    }
    if (is("uses_released_scratch")) {
        const int64_t mark = call->scratch_mark(call->scratch);
        const float *released = call->scratch_alloc(call->scratch, 64);
        call->scratch_release(call->scratch, mark);
        sum += *numbers_at(released, 3);
    }
    self->scratch = gate;
    return sum;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_mlp_args *args,
                   struct graft_error *error) {
    struct mlp *self = instance;
    const int64_t count = args->tokens * self->intermediate;
    if (is("numbers_two_layers") && self->layer >= 2) {
        write_at(NULL, self->layer, 0.0F);
    }
    float *gate = graft_scratch_floats(call, args->tokens, self->intermediate, error);
    float *up = is("takes_too_little_scratch") ? call->scratch_alloc(call->scratch, count)
                                               : graft_scratch_floats(call, args->tokens, self->intermediate, error);
    if ((gate == NULL || up == NULL) && !is("looks_at_no_memory")) {
        return GRAFT_ERROR_INTERNAL;
    }
    if (is("looks_at_no_memory")) {
        write_at(gate, 0, 0.0F);
    }
    const struct graft_linear_args gate_args = {sizeof gate_args, 0, args->tokens, args->hidden_states, gate};
    const struct graft_linear_args up_args = {sizeof up_args, 0, args->tokens, args->hidden_states, up};
    struct graft_linear_args down_args = {sizeof down_args, 0, args->tokens, gate, args->output};
    int status = graft_linear_forward(self->gate_proj, call, &gate_args, error);
    if (is("goes_on")) {
        status = GRAFT_OK;
    }
    if (is("has_room_for_short_rows")) {
        gate[0] = copy(gate, self->intermediate);
    }
    if (is("has_room_for_few_tokens")) {
        gate[0] = copy(gate, args->tokens);
    }
    if (status == GRAFT_OK && !is("uses_scratch_uncomputed")) {
        status = graft_linear_forward(self->up_proj, call, &up_args, error);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    if (is("recurses")) {
        return recurse(1);
    }
    volatile float sum = use_scratch(self, call, gate, count);
    (void)sum;
    if (is("takes_every_activation_for_silu")) {
        for (int64_t i = 0; i < count; i++) {
            gate[i] = gate[i] / (1.0F + expf(-gate[i])) * up[i];
        }
    } else {
        status = graft_activation_gate(self->act_fn, call, gate, up, args->tokens, self->intermediate, error);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    if (is("leaves_a_row")) {
        down_args.tokens--;
    }
    return graft_linear_forward(self->down_proj, call, &down_args, error);
}

static const struct graft_mlp vtable = {.struct_size = sizeof vtable, .forward = forward};

const struct graft_class acme_mlp = {.struct_size = sizeof acme_mlp,
                                     .name = "AcmeMLP",
                                     .interface_id = GRAFT_INTERFACE_MLP,
                                     .describe = describe,
                                     .create = create,
                                     .destroy = graft_instance_destroy,
                                     .forward = &vtable};

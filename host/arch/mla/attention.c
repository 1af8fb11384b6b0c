/* SPDX-License-Identifier: Apache-2.0 */
/* Describes latent attention, and runs its forward from hidden states to output. */
#include <math.h>

#include "arch/decoder/choices.h"
#include "arch/decoder/roles.h"
#include "arch/mla/mla.h"
#include "arch/role.h"
#include "graft/describe.h"

/* State while the module is described. */
struct describing {
    const struct graft_description *description;
    const struct graft_sink *sink;
    const struct graft_mla_sizes *sizes;
    double latent_eps;
    int32_t bias; /* of the projections of hidden states */
    struct graft_error *error;
};

static void linear(const struct describing *of, const char *name, int64_t in, int64_t out, int32_t bias) {
    graft_describe_linear(of->sink, name, in, out, bias, of->error);
}

static void norm(const struct describing *of, const char *name, int64_t width) {
    graft_describe_norm(of->sink, name, graft_decoder_class_name(of->description, D_CLASS_HEAD_NORM), width,
                        of->latent_eps, of->error);
}

static void describe_queries(const struct describing *of) {
    const struct graft_mla_sizes *sizes = of->sizes;
    const int64_t width = sizes->heads * (sizes->nope + sizes->rope);
    if (sizes->query_rank == 0) {
        linear(of, "q_proj", sizes->hidden, width, 0);
        return;
    }
    linear(of, "q_a_proj", sizes->hidden, sizes->query_rank, of->bias);
    norm(of, "q_a_layernorm", sizes->query_rank);
    linear(of, "q_b_proj", sizes->query_rank, width, 0);
}

static void describe_latents(const struct describing *of) {
    const struct graft_mla_sizes *sizes = of->sizes;
    linear(of, "kv_a_proj_with_mqa", sizes->hidden, sizes->rank + sizes->rope, of->bias);
    norm(of, "kv_a_layernorm", sizes->rank);
    linear(of, "kv_b_proj", sizes->rank, sizes->heads * (sizes->nope + sizes->value), 0);
}

/* All heads share one latent, so num_key_value_heads has no effect. */
static void check_heads(struct graft_reader *reader, const struct graft_parts_attention_sizes *given) {
    if (reader->status == GRAFT_OK && given->kv_heads != given->heads) {
        graft_reader_fail(reader, D_KV_HEADS, "expected num_attention_heads (%lld), got %lld", (long long)given->heads,
                          (long long)given->kv_heads);
    }
}

/* Latent attention supports one kind of gate: a sigmoid for each head. */
static void check_gate(struct graft_reader *reader) {
    const int32_t gate = graft_read_word(reader, D_GATE);
    if (reader->status == GRAFT_OK && gate != D_GATE_NONE &&
        (gate != D_GATE_HEAD || graft_read_word(reader, D_GATE_ACT) != D_GATE_SIGMOID)) {
        graft_reader_fail(reader, D_GATE, "expected none, or head with sigmoid, beside latent.rank");
    }
}

/* Reads the parent's arguments and further sizes of config.json. */
static int read_sizes(struct graft_reader *reader, const struct graft_args *args,
                      const struct graft_parts_attention_sizes *given, struct graft_mla_sizes *sizes) {
    sizes->layer = given->layer;
    sizes->rope_layout = given->rope_layout;
    sizes->hidden = given->hidden_size;
    sizes->heads = given->heads;
    sizes->query_rank = graft_read_int(reader, D_LATENT_QUERY_RANK);
    sizes->rank = graft_read_int(reader, D_LATENT_RANK);
    sizes->rope = graft_read_int(reader, D_LATENT_ROPE_DIM);
    sizes->nope = given->head_dim - sizes->rope;
    sizes->rotated = graft_args_int(args, "rotary_width", sizes->rope);
    sizes->value = graft_read_is_null(reader, D_VALUE_DIM) ? given->head_dim : graft_read_int(reader, D_VALUE_DIM);
    sizes->scaling = (float)given->scaling;
    sizes->softcap = (float)given->softcap;
    sizes->has_gate = graft_read_word(reader, D_GATE) != D_GATE_NONE;
    check_gate(reader);
    check_heads(reader, given);
    if (reader->status == GRAFT_OK && sizes->rank == 0) {
        graft_reader_fail(reader, D_LATENT_RANK, "expected an integer, got null");
    }
    if (reader->status == GRAFT_OK && sizes->nope < 1) {
        graft_reader_fail(reader, D_LATENT_ROPE_DIM, "expected less than the numbers of a head (%lld), got %lld",
                          (long long)given->head_dim, (long long)sizes->rope);
    }
    return reader->status;
}

int graft_mla_describe(const struct graft_class *self, const struct graft_config *config, const struct graft_args *args,
                       const struct graft_sink *sink, struct graft_error *error) {
    struct graft_mla_sizes *sizes = sink->keep(sink->data, sizeof *sizes, error); /* for `create` */
    struct graft_parts_attention_sizes given;
    struct graft_reader reader;
    int status =
        sizes != NULL ? graft_parts_read_attention_sizes(args, sink->path, &given, error) : GRAFT_ERROR_INTERNAL;
    if (status != GRAFT_OK) {
        return status;
    }
    graft_reader_start(&reader, self->data, config, given.layer, error);
    status = read_sizes(&reader, args, &given, sizes);
    const struct describing of = {self->data,     sink, sizes, graft_read_real(&reader, D_LATENT_EPS),
                                  given.qkv_bias, error};
    if (status != GRAFT_OK || reader.status != GRAFT_OK) {
        return error->code;
    }
    describe_queries(&of);
    describe_latents(&of);
    if (sizes->has_gate) {
        linear(&of, graft_description_name(self->data, D_GATE_NAME), sizes->hidden, sizes->heads, 0);
    }
    linear(&of, "o_proj", sizes->heads * sizes->value, sizes->hidden, given.o_proj_bias);
    return error->code;
}

int graft_mla_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                     struct graft_error *error) {
    const struct graft_mla_sizes *sizes = build->kept;
    struct graft_mla *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->sizes = *sizes;
    if (sizes->has_gate) {
        self->gate = graft_build_child(build, graft_description_name(cls->data, D_GATE_NAME), error);
    }
    if (sizes->query_rank == 0) {
        self->q_proj = graft_build_child(build, "q_proj", error);
    } else {
        self->q_a_proj = graft_build_child(build, "q_a_proj", error);
        self->q_a_layernorm = graft_build_child(build, "q_a_layernorm", error);
        self->q_b_proj = graft_build_child(build, "q_b_proj", error);
    }
    self->kv_a_proj = graft_build_child(build, "kv_a_proj_with_mqa", error);
    self->kv_a_layernorm = graft_build_child(build, "kv_a_layernorm", error);
    self->kv_b_proj = graft_build_child(build, "kv_b_proj", error);
    self->o_proj = graft_build_child(build, "o_proj", error);
    return graft_instance_finish(self, instance, error);
}

void graft_mla_destroy(void *instance) {
    struct graft_mla *self = instance;
    graft_mla_absorbed_free(self->base.host, atomic_load(&self->absorbed));
    graft_instance_destroy(self);
}

/* context [tokens, heads, value] *= sigmoid(gate(x)) [tokens, heads] */
static int apply_gate(const struct graft_mla *self, const struct graft_call *call,
                      const struct graft_self_attention_args *args, float *context, struct graft_error *error) {
    const int64_t tokens = args->batch->tokens, heads = self->sizes.heads, width = self->sizes.value;
    float *gate = graft_scratch_floats(call, tokens, heads, error);
    const struct graft_linear_args gate_args = {sizeof gate_args, 0, tokens, args->hidden_states, gate};
    int status = gate != NULL ? graft_linear_forward(self->gate, call, &gate_args, error) : GRAFT_ERROR_INTERNAL;
    if (status == GRAFT_OK) {
        status = call->kernels->activation(call, GRAFT_ACTIVATION_SIGMOID, gate, tokens * heads, gate, error);
    }
    for (int64_t i = 0; i < tokens * heads * width && status == GRAFT_OK; i++) {
        context[i] *= gate[i / width];
    }
    return status;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_self_attention_args *args,
                   struct graft_error *error) {
    struct graft_mla *self = instance;
    int64_t tokens = args->batch->tokens;
    struct graft_mla_projected projected;
    float *context = graft_scratch_floats(call, tokens, self->sizes.heads * self->sizes.value, error);
    const struct graft_linear_args output_args = {sizeof output_args, 0, tokens, context, args->output};
    if (context == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    int status = graft_mla_project(self, call, args, &projected, error);
    if (status == GRAFT_OK) {
        status = graft_mla_attend(self, call, args, &projected, context, error);
    }
    if (status == GRAFT_OK && self->gate != NULL) {
        status = apply_gate(self, call, args, context, error);
    }
    return status == GRAFT_OK ? graft_linear_forward(self->o_proj, call, &output_args, error) : status;
}

const struct graft_self_attention graft_mla_vtable = {
    .struct_size = sizeof graft_mla_vtable,
    .features = GRAFT_SELF_ATTENTION_SCORES | GRAFT_SELF_ATTENTION_ROTARY_WIDTH | GRAFT_SELF_ATTENTION_ROPE_INTERLEAVE,
    .forward = forward,
};

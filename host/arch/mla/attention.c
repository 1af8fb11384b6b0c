/* SPDX-License-Identifier: Apache-2.0 */
/* Describes latent attention, and runs its forward from hidden states to output. */
#include "arch/decoder/choices.h"
#include "arch/decoder/roles.h"
#include "arch/mla/mla.h"
#include "arch/role.h"

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
static void read_sizes(struct graft_reader *reader, const struct graft_args *args,
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
    check_gate(reader);
    check_heads(reader, given);
    if (sizes->rank == 0) {
        graft_reader_fail(reader, D_LATENT_RANK, "expected an integer, got null");
    }
    if (sizes->nope < 1) {
        graft_reader_fail(reader, D_LATENT_ROPE_DIM, "expected less than the numbers of a head (%lld), got %lld",
                          (long long)given->head_dim, (long long)sizes->rope);
    }
}

static void outline_norm(struct graft_outline *of, const struct graft_module **norm, const char *name, int64_t width) {
    graft_outline_norm(of, norm, name, graft_decoder_class_name(of->reader.description, D_CLASS_HEAD_NORM), width,
                       graft_read_real(&of->reader, D_LATENT_EPS));
}

static void outline(struct graft_outline *of, struct graft_mla *self) {
    struct graft_parts_attention_sizes given;
    if (graft_parts_read_attention_sizes(of->args, of->sink->path, &given, of->error) != GRAFT_OK) {
        return;
    }
    read_sizes(&of->reader, of->args, &given, &self->sizes);
    const struct graft_mla_sizes *sizes = &self->sizes;
    const int64_t hidden = sizes->hidden, queries = sizes->heads * (sizes->nope + sizes->rope);
    const int has_gate = graft_read_word(&of->reader, D_GATE) != D_GATE_NONE;
    if (sizes->query_rank == 0) {
        graft_outline_linear(of, &self->q_proj, "q_proj", hidden, queries, 0);
    } else {
        graft_outline_linear(of, &self->q_a_proj, "q_a_proj", hidden, sizes->query_rank, given.qkv_bias);
        outline_norm(of, &self->q_a_layernorm, "q_a_layernorm", sizes->query_rank);
        graft_outline_linear(of, &self->q_b_proj, "q_b_proj", sizes->query_rank, queries, 0);
    }
    graft_outline_linear(of, &self->kv_a_proj, "kv_a_proj_with_mqa", hidden, sizes->rank + sizes->rope, given.qkv_bias);
    outline_norm(of, &self->kv_a_layernorm, "kv_a_layernorm", sizes->rank);
    graft_outline_linear(of, &self->kv_b_proj, "kv_b_proj", sizes->rank, sizes->heads * (sizes->nope + sizes->value),
                         0);
    graft_outline_linear(of, &self->gate, has_gate ? graft_outline_name(of, D_GATE_NAME) : NULL, hidden, sizes->heads,
                         0);
    graft_outline_linear(of, &self->o_proj, "o_proj", sizes->heads * sizes->value, hidden, given.o_proj_bias);
}

GRAFT_OUTLINED(graft_mla, struct graft_mla)

void graft_mla_destroy(void *instance) {
    struct graft_mla *self = instance;
    graft_mla_absorbed_free(self->base.host, atomic_load(&self->absorbed));
    graft_instance_destroy(self);
}

static int forward(void *instance, const struct graft_call *call, const struct graft_self_attention_args *args,
                   struct graft_error *error) {
    struct graft_mla *self = instance;
    const struct graft_mla_sizes *sizes = &self->sizes;
    const struct graft_pass pass = {call, args->batch->tokens, error};
    const struct graft_pass heads = {call, pass.rows * sizes->heads, error};
    const struct graft_mla_projected projected = graft_mla_project(self, &pass, args);
    float *context = graft_pass_floats(&pass, sizes->heads * sizes->value);
    if (error->code == GRAFT_OK) {
        (void)graft_mla_attend(self, call, args, &projected, context, error);
    }
    if (self->gate != NULL) { /* context [tokens, heads, value] *= sigmoid(gate(x)) [tokens, heads] */
        float *gate = graft_pass_product(&pass, self->gate, args->hidden_states, sizes->heads);
        graft_pass_activation(&pass, GRAFT_ACTIVATION_SIGMOID, gate, sizes->heads);
        graft_pass_scale_rows(&heads, context, sizes->value, gate);
    }
    graft_pass_linear(&pass, self->o_proj, context, args->output);
    return error->code;
}

const struct graft_self_attention graft_mla_vtable = {
    .struct_size = sizeof graft_mla_vtable,
    .features = GRAFT_SELF_ATTENTION_SCORES | GRAFT_SELF_ATTENTION_ROTARY_WIDTH | GRAFT_SELF_ATTENTION_ROPE_INTERLEAVE,
    .forward = forward,
};

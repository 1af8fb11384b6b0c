/* SPDX-License-Identifier: Apache-2.0 */
/* Cross attention to an encoder's output (Vaswani et al. 2017, 3.2.3). Keys and values are computed when a sequence
 * brings its source text, and kept for all of its tokens. */
#include "arch/decoder/attend.h"
#include "arch/decoder/choices.h"
#include "arch/decoder/sources.h"
#include "arch/role.h"

struct cross_attention {
    struct graft_instance base;
    struct graft_parts_attention_sizes sizes;
    const struct graft_module *q; /* hidden_size -> heads * head_dim */
    const struct graft_module
        *k; /* hidden_size -> kv_heads * head_dim; applied to the encoder's hidden states, like v */
    const struct graft_module *v;      /* hidden_size -> kv_heads * head_dim */
    const struct graft_module *output; /* heads * head_dim -> hidden_size */
};

static void outline(struct graft_outline *of, struct cross_attention *self) {
    const struct graft_parts_attention_sizes *sizes = &self->sizes;
    if (graft_parts_read_attention_sizes(of->args, of->sink->path, &self->sizes, of->error) != GRAFT_OK) {
        return;
    }
    const int32_t k_bias =
        graft_read_is_null(&of->reader, D_K_BIAS) ? sizes->qkv_bias : graft_read_bool(&of->reader, D_K_BIAS);
    const int64_t hidden = sizes->hidden_size, q_size = sizes->heads * sizes->head_dim;
    const int64_t kv_size = sizes->kv_heads * sizes->head_dim;
    graft_outline_linear(of, &self->q, graft_outline_name(of, D_QUERY), hidden, q_size, sizes->qkv_bias);
    graft_outline_linear(of, &self->k, graft_outline_name(of, D_KEY), hidden, kv_size, k_bias);
    graft_outline_linear(of, &self->v, graft_outline_name(of, D_VALUE), hidden, kv_size, sizes->qkv_bias);
    graft_outline_linear(of, &self->output, graft_outline_name(of, D_OUTPUT), q_size, hidden, sizes->o_proj_bias);
}

GRAFT_OUTLINED(graft_cross_attention, struct cross_attention)

/* Computes k and v [source tokens, kv_heads, head_dim] from the encoder's hidden states. The call's row adapters are
 * for the decoder's tokens; here each source token has the adapter of its sequence. */
static void project_sources(const struct cross_attention *self, const struct graft_pass *pass,
                            const struct graft_batch *batch, float *const *made) {
    const struct graft_module *projections[] = {self->k, self->v};
    struct graft_gathered_call space;
    struct graft_pass sources = {pass->call, graft_batch_source_tokens(batch), pass->error};
    if (sources.rows == 0 || !graft_pass_ok(pass)) {
        return;
    }
    if (batch->source_states == NULL) {
        (void)graft_error_set(pass->error, GRAFT_ERROR_INTERNAL, "", "no encoder has run before its decoder");
    }
    sources.call = graft_source_call(pass->call, batch, &space, pass->error);
    graft_pass_linears(&sources, projections, batch->source_states, made, 2);
}

static int forward(void *instance, const struct graft_call *call, const struct graft_self_attention_args *args,
                   struct graft_error *error) {
    const struct cross_attention *self = instance;
    const struct graft_parts_attention_sizes *sizes = &self->sizes;
    const struct graft_pass pass = {call, args->batch->tokens, error};
    const struct graft_pass sources = {call, graft_batch_source_tokens(args->batch), error};
    const int64_t kv_size = sizes->kv_heads * sizes->head_dim;
    float *const made[] = {graft_pass_floats(&sources, kv_size), graft_pass_floats(&sources, kv_size)};
    float *q = graft_pass_product(&pass, self->q, args->hidden_states, sizes->heads * sizes->head_dim);
    const struct graft_projected x = {.q = graft_heads_packed(q, sizes->heads, sizes->head_dim),
                                      .k = graft_heads_packed(made[0], sizes->kv_heads, sizes->head_dim),
                                      .v = graft_heads_packed(made[1], sizes->kv_heads, sizes->head_dim)};
    struct graft_attention_args attention_args = graft_heads_args(sizes, args, &x);
    attention_args.cross = 1;
    project_sources(self, &pass, args->batch, made);
    graft_pass_linear(&pass, self->output, graft_heads_run(&pass, &attention_args), args->output);
    return error->code;
}

const struct graft_self_attention graft_cross_attention_vtable = {
    .struct_size = sizeof graft_cross_attention_vtable,
    .features = GRAFT_SELF_ATTENTION_SCORES | GRAFT_SELF_ATTENTION_CROSS,
    .forward = forward,
};

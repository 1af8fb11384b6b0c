/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/views.h"

#include <stdint.h>

#include "graft/activation.h"
#include "graft/attention.h"
#include "graft/attention_block.h"
#include "graft/base_model.h"
#include "graft/causal_lm.h"
#include "graft/decoder_layer.h"
#include "graft/embedding.h"
#include "graft/encoder.h"
#include "graft/encoder_layer.h"
#include "graft/encoder_model.h"
#include "graft/experts.h"
#include "graft/head.h"
#include "graft/input_embeddings.h"
#include "graft/linear.h"
#include "graft/masked_lm.h"
#include "graft/mlp.h"
#include "graft/norm.h"
#include "graft/pooler.h"
#include "graft/residual_output.h"
#include "graft/rotary.h"
#include "graft/router.h"
#include "graft/sequence_classifier.h"
#include "graft/transform.h"

/* A view onto an array whose pointer is `field` bytes into `args`. */
static struct graft_view view(const char *name, int32_t direction, const void *args, size_t field, int64_t rows,
                              int64_t columns) {
    void *const *pointer = (void *const *)(const void *)((const char *)args + field);
    return (struct graft_view){name, direction, GRAFT_DTYPE_F32, rows, columns, *pointer, field};
}

static struct graft_view ids(const char *name, int32_t direction, const void *args, size_t field, int64_t rows,
                             int64_t columns) {
    struct graft_view result = view(name, direction, args, field, rows, columns);
    result.dtype = GRAFT_DTYPE_I32;
    return result;
}

int32_t graft_views_of_activation(const struct widths *widths, const void *args, struct graft_view *views) {
    const struct graft_activation_args *in = args;
    (void)widths;
    views[0] = view("x", GRAFT_VIEW_IN, args, offsetof(struct graft_activation_args, x), 1, in->count);
    views[1] = view("y", GRAFT_VIEW_OUT, args, offsetof(struct graft_activation_args, y), 1, in->count);
    return 2;
}

int32_t graft_views_of_base_model(const struct widths *widths, const void *args, struct graft_view *views) {
    const struct graft_base_model_args *in = args;
    int64_t tokens = in->batch->tokens;
    views[0] = ids("input_ids", GRAFT_VIEW_IN, args, offsetof(struct graft_base_model_args, input_ids), tokens, 1);
    views[1] = view("last_hidden_state", GRAFT_VIEW_OUT, args,
                    offsetof(struct graft_base_model_args, last_hidden_state), tokens, widths->hidden);
    return 2;
}

int32_t graft_views_of_causal_lm(const struct widths *widths, const void *args, struct graft_view *views) {
    const struct graft_causal_lm_args *in = args;
    int64_t tokens = in->batch->tokens;
    views[0] = ids("input_ids", GRAFT_VIEW_IN, args, offsetof(struct graft_causal_lm_args, input_ids), tokens, 1);
    views[1] =
        view("logits", GRAFT_VIEW_OUT, args, offsetof(struct graft_causal_lm_args, logits), in->n_rows, widths->vocab);
    return 2;
}

int32_t graft_views_of_decoder_layer(const struct widths *widths, const void *args, struct graft_view *views) {
    const struct graft_decoder_layer_args *in = args;
    views[0] = view("hidden_states", GRAFT_VIEW_IN_OUT, args, offsetof(struct graft_decoder_layer_args, hidden_states),
                    in->batch->tokens, widths->hidden);
    return 1;
}

int32_t graft_views_of_embedding(const struct widths *widths, const void *args, struct graft_view *views) {
    const struct graft_embedding_args *in = args;
    views[0] = ids("ids", GRAFT_VIEW_IN, args, offsetof(struct graft_embedding_args, ids), in->tokens, 1);
    views[1] =
        view("output", GRAFT_VIEW_OUT, args, offsetof(struct graft_embedding_args, output), in->tokens, widths->output);
    return 2;
}

int32_t graft_views_of_experts(const struct widths *widths, const void *args, struct graft_view *views) {
    const struct graft_experts_args *in = args;
    views[0] = view("hidden_states", GRAFT_VIEW_IN, args, offsetof(struct graft_experts_args, hidden_states),
                    in->tokens, widths->hidden);
    views[1] =
        ids("top_k_index", GRAFT_VIEW_IN, args, offsetof(struct graft_experts_args, top_k_index), in->tokens, in->k);
    views[2] = view("top_k_weights", GRAFT_VIEW_IN, args, offsetof(struct graft_experts_args, top_k_weights),
                    in->tokens, in->k);
    views[3] =
        view("output", GRAFT_VIEW_OUT, args, offsetof(struct graft_experts_args, output), in->tokens, widths->hidden);
    return 4;
}

int32_t graft_views_of_linear(const struct widths *widths, const void *args, struct graft_view *views) {
    const struct graft_linear_args *in = args;
    views[0] = view("x", GRAFT_VIEW_IN, args, offsetof(struct graft_linear_args, x), in->tokens, widths->input);
    views[1] = view("y", GRAFT_VIEW_OUT, args, offsetof(struct graft_linear_args, y), in->tokens, widths->output);
    return 2;
}

int32_t graft_views_of_mlp(const struct widths *widths, const void *args, struct graft_view *views) {
    const struct graft_mlp_args *in = args;
    views[0] = view("hidden_states", GRAFT_VIEW_IN, args, offsetof(struct graft_mlp_args, hidden_states), in->tokens,
                    widths->hidden);
    views[1] =
        view("output", GRAFT_VIEW_OUT, args, offsetof(struct graft_mlp_args, output), in->tokens, widths->hidden);
    return 2;
}

int32_t graft_views_of_norm(const struct widths *widths, const void *args, struct graft_view *views) {
    const struct graft_norm_args *in = args;
    int32_t direction = in->residual != NULL ? GRAFT_VIEW_IN_OUT : GRAFT_VIEW_IN;
    views[0] = view("hidden_states", direction, args, offsetof(struct graft_norm_args, hidden_states), in->tokens,
                    widths->output);
    views[1] =
        view("output", GRAFT_VIEW_OUT, args, offsetof(struct graft_norm_args, output), in->tokens, widths->output);
    if (in->residual == NULL) {
        return 2;
    }
    views[2] =
        view("residual", GRAFT_VIEW_IN, args, offsetof(struct graft_norm_args, residual), in->tokens, widths->output);
    return 3;
}

int32_t graft_views_of_rotary(const struct widths *widths, const void *args, struct graft_view *views) {
    const struct graft_rotary_args *in = args;
    int64_t tokens = in->batch->tokens;
    (void)widths;
    views[0] = view("cos", GRAFT_VIEW_OUT, args, offsetof(struct graft_rotary_args, cos), tokens, in->head_dim);
    views[1] = view("sin", GRAFT_VIEW_OUT, args, offsetof(struct graft_rotary_args, sin), tokens, in->head_dim);
    return 2;
}

int32_t graft_views_of_router(const struct widths *widths, const void *args, struct graft_view *views) {
    const struct graft_router_args *in = args;
    views[0] = view("hidden_states", GRAFT_VIEW_IN, args, offsetof(struct graft_router_args, hidden_states), in->tokens,
                    widths->hidden);
    views[1] =
        view("logits", GRAFT_VIEW_OUT, args, offsetof(struct graft_router_args, logits), in->tokens, in->experts);
    views[2] =
        ids("top_k_index", GRAFT_VIEW_OUT, args, offsetof(struct graft_router_args, top_k_index), in->tokens, in->k);
    views[3] = view("top_k_weights", GRAFT_VIEW_OUT, args, offsetof(struct graft_router_args, top_k_weights),
                    in->tokens, in->k);
    return 4;
}

int32_t graft_views_of_self_attention(const struct widths *widths, const void *args, struct graft_view *views) {
    const struct graft_self_attention_args *in = args;
    int64_t tokens = in->batch->tokens;
    views[0] = view("hidden_states", GRAFT_VIEW_IN, args, offsetof(struct graft_self_attention_args, hidden_states),
                    tokens, widths->hidden);
    views[1] = view("output", GRAFT_VIEW_OUT, args, offsetof(struct graft_self_attention_args, output), tokens,
                    widths->hidden);
    return 2;
}

int32_t graft_views_of_attention_block(const struct widths *widths, const void *args, struct graft_view *views) {
    const struct graft_attention_block_args *in = args;
    int64_t tokens = in->batch->tokens;
    views[0] = view("hidden_states", GRAFT_VIEW_IN, args, offsetof(struct graft_attention_block_args, hidden_states),
                    tokens, widths->hidden);
    views[1] = view("output", GRAFT_VIEW_OUT, args, offsetof(struct graft_attention_block_args, output), tokens,
                    widths->hidden);
    return 2;
}

int32_t graft_views_of_encoder(const struct widths *widths, const void *args, struct graft_view *views) {
    const struct graft_encoder_args *in = args;
    views[0] = view("hidden_states", GRAFT_VIEW_IN_OUT, args, offsetof(struct graft_encoder_args, hidden_states),
                    in->batch->tokens, widths->hidden);
    return 1;
}

int32_t graft_views_of_encoder_layer(const struct widths *widths, const void *args, struct graft_view *views) {
    const struct graft_encoder_layer_args *in = args;
    views[0] = view("hidden_states", GRAFT_VIEW_IN_OUT, args, offsetof(struct graft_encoder_layer_args, hidden_states),
                    in->batch->tokens, widths->hidden);
    return 1;
}

int32_t graft_views_of_encoder_model(const struct widths *widths, const void *args, struct graft_view *views) {
    const struct graft_encoder_model_args *in = args;
    int64_t tokens = in->batch->tokens;
    views[0] = ids("input_ids", GRAFT_VIEW_IN, args, offsetof(struct graft_encoder_model_args, input_ids), tokens, 1);
    views[1] = ids("token_type_ids", GRAFT_VIEW_IN, args, offsetof(struct graft_encoder_model_args, token_type_ids),
                   tokens, 1);
    views[2] = view("last_hidden_state", GRAFT_VIEW_OUT, args,
                    offsetof(struct graft_encoder_model_args, last_hidden_state), tokens, widths->hidden);
    views[3] = view("pooler_output", GRAFT_VIEW_OUT, args, offsetof(struct graft_encoder_model_args, pooler_output),
                    in->batch->sequences, widths->hidden);
    return in->pooler_output != NULL ? 4 : 3;
}

int32_t graft_views_of_head(const struct widths *widths, const void *args, struct graft_view *views) {
    const struct graft_head_args *in = args;
    views[0] = view("hidden_states", GRAFT_VIEW_IN, args, offsetof(struct graft_head_args, hidden_states), in->tokens,
                    widths->hidden);
    views[1] =
        view("logits", GRAFT_VIEW_OUT, args, offsetof(struct graft_head_args, logits), in->tokens, widths->output);
    return 2;
}

int32_t graft_views_of_input_embeddings(const struct widths *widths, const void *args, struct graft_view *views) {
    const struct graft_input_embeddings_args *in = args;
    int64_t tokens = in->batch->tokens;
    views[0] =
        ids("input_ids", GRAFT_VIEW_IN, args, offsetof(struct graft_input_embeddings_args, input_ids), tokens, 1);
    views[1] = ids("token_type_ids", GRAFT_VIEW_IN, args, offsetof(struct graft_input_embeddings_args, token_type_ids),
                   tokens, 1);
    views[2] = view("output", GRAFT_VIEW_OUT, args, offsetof(struct graft_input_embeddings_args, output), tokens,
                    widths->hidden);
    return 3;
}

int32_t graft_views_of_masked_lm(const struct widths *widths, const void *args, struct graft_view *views) {
    const struct graft_masked_lm_args *in = args;
    int64_t tokens = in->batch->tokens;
    views[0] = ids("input_ids", GRAFT_VIEW_IN, args, offsetof(struct graft_masked_lm_args, input_ids), tokens, 1);
    views[1] =
        ids("token_type_ids", GRAFT_VIEW_IN, args, offsetof(struct graft_masked_lm_args, token_type_ids), tokens, 1);
    views[2] =
        view("logits", GRAFT_VIEW_OUT, args, offsetof(struct graft_masked_lm_args, logits), in->n_rows, widths->vocab);
    views[3] = view("last_hidden_state", GRAFT_VIEW_OUT, args, offsetof(struct graft_masked_lm_args, last_hidden_state),
                    tokens, widths->hidden);
    return in->last_hidden_state != NULL ? 4 : 3;
}

int32_t graft_views_of_pooler(const struct widths *widths, const void *args, struct graft_view *views) {
    const struct graft_pooler_args *in = args;
    views[0] = view("hidden_states", GRAFT_VIEW_IN, args, offsetof(struct graft_pooler_args, hidden_states),
                    in->batch->tokens, widths->hidden);
    views[1] = view("output", GRAFT_VIEW_OUT, args, offsetof(struct graft_pooler_args, output), in->batch->sequences,
                    widths->hidden);
    return 2;
}

int32_t graft_views_of_residual_output(const struct widths *widths, const void *args, struct graft_view *views) {
    const struct graft_residual_output_args *in = args;
    views[0] = view("hidden_states", GRAFT_VIEW_IN, args, offsetof(struct graft_residual_output_args, hidden_states),
                    in->tokens, widths->input);
    views[1] = view("residual", GRAFT_VIEW_IN, args, offsetof(struct graft_residual_output_args, residual), in->tokens,
                    widths->hidden);
    views[2] = view("output", GRAFT_VIEW_OUT, args, offsetof(struct graft_residual_output_args, output), in->tokens,
                    widths->hidden);
    return 3;
}

int32_t graft_views_of_sequence_classifier(const struct widths *widths, const void *args, struct graft_view *views) {
    const struct graft_sequence_classifier_args *in = args;
    int64_t tokens = in->batch->tokens;
    int32_t n = 2;
    views[0] =
        ids("input_ids", GRAFT_VIEW_IN, args, offsetof(struct graft_sequence_classifier_args, input_ids), tokens, 1);
    views[1] = ids("token_type_ids", GRAFT_VIEW_IN, args,
                   offsetof(struct graft_sequence_classifier_args, token_type_ids), tokens, 1);
    if (in->logits != NULL) {
        views[n++] = view("logits", GRAFT_VIEW_OUT, args, offsetof(struct graft_sequence_classifier_args, logits),
                          in->batch->sequences, widths->labels);
    }
    if (in->last_hidden_state != NULL) {
        views[n++] = view("last_hidden_state", GRAFT_VIEW_OUT, args,
                          offsetof(struct graft_sequence_classifier_args, last_hidden_state), tokens, widths->hidden);
    }
    return n;
}

int32_t graft_views_of_transform(const struct widths *widths, const void *args, struct graft_view *views) {
    const struct graft_transform_args *in = args;
    views[0] = view("hidden_states", GRAFT_VIEW_IN, args, offsetof(struct graft_transform_args, hidden_states),
                    in->tokens, widths->input);
    views[1] =
        view("output", GRAFT_VIEW_OUT, args, offsetof(struct graft_transform_args, output), in->tokens, widths->output);
    return 2;
}

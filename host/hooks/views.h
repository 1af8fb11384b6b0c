/* SPDX-License-Identifier: Apache-2.0 */
/* The arrays in the args of each interface. */
#ifndef GRAFT_HOOKS_VIEWS_H
#define GRAFT_HOOKS_VIEWS_H

#include "hooks/interface.h"

int32_t graft_views_of_activation(const struct widths *widths, const void *args, struct graft_view *views);
int32_t graft_views_of_base_model(const struct widths *widths, const void *args, struct graft_view *views);
int32_t graft_views_of_causal_lm(const struct widths *widths, const void *args, struct graft_view *views);
int32_t graft_views_of_decoder_layer(const struct widths *widths, const void *args, struct graft_view *views);
int32_t graft_views_of_embedding(const struct widths *widths, const void *args, struct graft_view *views);
int32_t graft_views_of_experts(const struct widths *widths, const void *args, struct graft_view *views);
int32_t graft_views_of_linear(const struct widths *widths, const void *args, struct graft_view *views);
int32_t graft_views_of_mlp(const struct widths *widths, const void *args, struct graft_view *views);
int32_t graft_views_of_norm(const struct widths *widths, const void *args, struct graft_view *views);
int32_t graft_views_of_rotary(const struct widths *widths, const void *args, struct graft_view *views);
int32_t graft_views_of_router(const struct widths *widths, const void *args, struct graft_view *views);
int32_t graft_views_of_self_attention(const struct widths *widths, const void *args, struct graft_view *views);
int32_t graft_views_of_attention_block(const struct widths *widths, const void *args, struct graft_view *views);
int32_t graft_views_of_encoder(const struct widths *widths, const void *args, struct graft_view *views);
int32_t graft_views_of_encoder_layer(const struct widths *widths, const void *args, struct graft_view *views);
int32_t graft_views_of_encoder_model(const struct widths *widths, const void *args, struct graft_view *views);
int32_t graft_views_of_head(const struct widths *widths, const void *args, struct graft_view *views);
int32_t graft_views_of_input_embeddings(const struct widths *widths, const void *args, struct graft_view *views);
int32_t graft_views_of_masked_lm(const struct widths *widths, const void *args, struct graft_view *views);
int32_t graft_views_of_pooler(const struct widths *widths, const void *args, struct graft_view *views);
int32_t graft_views_of_residual_output(const struct widths *widths, const void *args, struct graft_view *views);
int32_t graft_views_of_sequence_classifier(const struct widths *widths, const void *args, struct graft_view *views);
int32_t graft_views_of_transform(const struct widths *widths, const void *args, struct graft_view *views);
int32_t graft_views_of_conv3d(const struct widths *widths, const void *args, struct graft_view *views);
int32_t graft_views_of_patch_embed(const struct widths *widths, const void *args, struct graft_view *views);
int32_t graft_views_of_patch_merger(const struct widths *widths, const void *args, struct graft_view *views);
int32_t graft_views_of_vision_attention(const struct widths *widths, const void *args, struct graft_view *views);
int32_t graft_views_of_vision_block(const struct widths *widths, const void *args, struct graft_view *views);
int32_t graft_views_of_vision_rotary(const struct widths *widths, const void *args, struct graft_view *views);
int32_t graft_views_of_vision_tower(const struct widths *widths, const void *args, struct graft_view *views);

#endif

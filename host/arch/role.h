/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The roles that classes of many families play. A class is a role with a name and, in its `data`, what is special about
 * its family: LlamaAttention and Qwen2MoeAttention are the role `attention` with two descriptions (data/description.h).
 */
#ifndef GRAFT_ARCH_ROLE_H
#define GRAFT_ARCH_ROLE_H

#include "arch/outline.h"
#include "graft/activation.h"
#include "graft/attention.h"
#include "graft/base_model.h"
#include "graft/causal_conv1d.h"
#include "graft/causal_lm.h"
#include "graft/class.h"
#include "graft/conv3d.h"
#include "graft/decoder_layer.h"
#include "graft/embedding.h"
#include "graft/experts.h"
#include "graft/gated_norm.h"
#include "graft/instance.h"
#include "graft/linear.h"
#include "graft/masked_lm.h"
#include "graft/mixer.h"
#include "graft/mlp.h"
#include "graft/norm.h"
#include "graft/parts.h"
#include "graft/patch_embed.h"
#include "graft/patch_merger.h"
#include "graft/rotary.h"
#include "graft/router.h"
#include "graft/sequence_classifier.h"
#include "graft/token_classifier.h"
#include "graft/vision_attention.h"
#include "graft/vision_block.h"
#include "graft/vision_rotary.h"
#include "graft/vision_tower.h"

/* The fields of a struct graft_class that a role decides. */
#define GRAFT_ROLE(interface, role)                                                                      \
    .struct_size = sizeof(struct graft_class), .interface_id = (interface), .describe = role##_describe, \
    .create = role##_create, .destroy = graft_instance_destroy, .forward = &(role##_vtable)

/* The same fields for a class whose `describe` makes an outline (outline.h). With AS, the vtable may be another
 * role's. */
#define GRAFT_ROLE_OUTLINED_AS(interface, role, vtable)                                                  \
    .struct_size = sizeof(struct graft_class), .interface_id = (interface), .describe = role##_describe, \
    .create = graft_outline_create, .destroy = graft_instance_destroy, .forward = &(vtable)
#define GRAFT_ROLE_OUTLINED(interface, role) GRAFT_ROLE_OUTLINED_AS(interface, role, role##_vtable)

/* The same fields for a class that only describes itself and leaves the rest to `part`: one of the SDK's parts
 * (graft/parts.h) or another role. */
#define GRAFT_ROLE_PART(interface, role, part)                                                           \
    .struct_size = sizeof(struct graft_class), .interface_id = (interface), .describe = role##_describe, \
    .create = part##_create, .destroy = graft_instance_destroy, .forward = &(part##_vtable)

/* Types of functions, as in struct graft_class. */
typedef int graft_role_describe(const struct graft_class *self, const struct graft_config *config,
                                const struct graft_args *args, const struct graft_sink *sink,
                                struct graft_error *error);
typedef int graft_role_create(const struct graft_class *self, const struct graft_build *build, void **instance,
                              struct graft_error *error);

enum { GRAFT_LAYER_NORM_CONVERSIONS = 2 };

/* [any] Whether a class is one of the basic ones, which belong to no family. */
int graft_class_is_basic(const char *name);

/* In basic/. */
graft_role_describe graft_causal_conv1d_describe, graft_conv2d_describe, graft_conv3d_describe, graft_linear_describe,
    graft_embedding_describe, graft_layer_norm_describe, graft_identity_describe, graft_prelu_describe,
    graft_xielu_describe;
graft_role_create graft_conv3d_create, graft_linear_create, graft_embedding_create, graft_layer_norm_create,
    graft_prelu_create, graft_xielu_create;
extern const struct graft_linear graft_linear_vtable;
extern const struct graft_causal_conv1d graft_causal_conv1d_vtable;
extern const struct graft_conv3d graft_conv3d_vtable;
extern const struct graft_embedding graft_embedding_vtable;
extern const struct graft_norm graft_layer_norm_vtable, graft_identity_vtable;
extern const struct graft_activation graft_prelu_vtable, graft_xielu_vtable;
extern const struct graft_conversion graft_layer_norm_conversions[GRAFT_LAYER_NORM_CONVERSIONS];

/* In decoder/; `data` is a struct graft_description of graft_decoder_choices. */
graft_role_describe graft_causal_lm_describe, graft_conditional_describe, graft_masked_lm_describe,
    graft_decoder_sequences_describe, graft_decoder_tokens_describe, graft_decoder_answers_describe,
    graft_decoder_model_describe, graft_decoder_layer_describe, graft_attention_describe,
    graft_cross_attention_describe, graft_disentangled_describe, graft_mlp_describe, graft_decoder_norm_describe,
    graft_decoder_rotary_describe, graft_extended_layer_describe;
graft_role_create graft_attention_create, graft_decoder_rotary_create, graft_scaled_embedding_create;
void graft_decoder_rotary_destroy(void *instance);
extern const struct graft_causal_lm graft_causal_lm_vtable;
extern const struct graft_masked_lm graft_masked_lm_vtable;
extern const struct graft_sequence_classifier graft_decoder_sequences_vtable;
extern const struct graft_token_classifier graft_decoder_tokens_vtable;
extern const struct graft_embedding graft_scaled_embedding_vtable;
extern const struct graft_decoder_layer graft_decoder_layer_vtable, graft_extended_layer_vtable;
extern const struct graft_base_model graft_decoder_model_vtable;
extern const struct graft_self_attention graft_attention_vtable, graft_cross_attention_vtable,
    graft_disentangled_vtable;
extern const struct graft_norm graft_decoder_norm_vtable;
extern const struct graft_rotary graft_decoder_rotary_vtable;

/* In mla/; `data` is a struct graft_description of graft_decoder_choices. */
graft_role_describe graft_mla_describe;
void graft_mla_destroy(void *instance);
extern const struct graft_self_attention graft_mla_vtable;

/* In mixers/; `data` is a struct graft_description of graft_decoder_choices. */
graft_role_describe graft_rwkv_channel_describe, graft_rwkv_time_describe, graft_delta_net_describe,
    graft_gated_norm_describe, graft_lightning_describe, graft_mamba_describe, graft_mamba2_describe,
    graft_rg_lru_describe, graft_short_conv_describe;
extern const struct graft_gated_norm graft_gated_norm_vtable;
extern const struct graft_mixer graft_rwkv_channel_vtable, graft_rwkv_time_vtable, graft_delta_net_vtable,
    graft_lightning_vtable, graft_mamba_vtable, graft_mamba2_vtable, graft_rg_lru_vtable, graft_short_conv_vtable;

/* In moe/; `data` is a struct graft_description of graft_decoder_choices. */
graft_role_describe graft_sparse_moe_block_describe, graft_router_describe, graft_experts_describe,
    graft_plain_experts_describe, graft_routed_attention_describe;
extern const struct graft_mlp graft_sparse_moe_block_vtable;
extern const struct graft_self_attention graft_routed_attention_vtable;
extern const struct graft_router graft_router_vtable;
extern const struct graft_experts graft_experts_vtable, graft_plain_experts_vtable;

/* In vision/; `data` is a struct graft_description of graft_vision_choices. */
graft_role_describe graft_multimodal_describe, graft_vision_tower_describe, graft_patch_embed_describe,
    graft_vision_rotary_describe, graft_vision_block_describe, graft_vision_attention_describe,
    graft_vision_mlp_describe, graft_patch_merger_describe;
extern const struct graft_base_model graft_multimodal_vtable;
extern const struct graft_vision_tower graft_vision_tower_vtable;
extern const struct graft_patch_embed graft_patch_embed_vtable;
extern const struct graft_vision_rotary graft_vision_rotary_vtable;
extern const struct graft_vision_block graft_vision_block_vtable;
extern const struct graft_vision_attention graft_vision_attention_vtable;
extern const struct graft_patch_merger graft_patch_merger_vtable;

#endif

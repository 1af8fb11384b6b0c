/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The roles that classes of many families play. A class is a role with a name and, in its `data`, what is special about
 * its family: LlamaAttention and Qwen2MoeAttention are the role `attention` with two struct graft_decoder_traits.
 */
#ifndef GRAFT_ARCH_ROLE_H
#define GRAFT_ARCH_ROLE_H

#include "arch/instance.h"
#include "graft/activation.h"
#include "graft/attention.h"
#include "graft/base_model.h"
#include "graft/causal_lm.h"
#include "graft/class.h"
#include "graft/decoder_layer.h"
#include "graft/embedding.h"
#include "graft/experts.h"
#include "graft/linear.h"
#include "graft/mlp.h"
#include "graft/norm.h"
#include "graft/rotary.h"
#include "graft/router.h"

/* The fields of a struct graft_class that a role decides. */
#define GRAFT_ROLE(interface, role)                                                                      \
    .struct_size = sizeof(struct graft_class), .interface_id = (interface), .describe = role##_describe, \
    .create = role##_create, .destroy = graft_instance_destroy, .forward = &(role##_vtable)

/* The fields of a class of the family whose traits are called `traits`. */
#define GRAFT_FAMILY_CLASS(class_name, interface, role) \
    .name = (class_name), .data = &traits, GRAFT_ROLE(interface, role)

/* Types of functions, as in struct graft_class. */
typedef int graft_role_describe(const struct graft_class *self, const struct graft_config *config,
                                const struct graft_args *args, const struct graft_sink *sink,
                                struct graft_error *error);
typedef int graft_role_create(const struct graft_class *self, const struct graft_build *build, void **instance,
                              struct graft_error *error);

/* In basic/. */
graft_role_describe graft_linear_describe, graft_embedding_describe;
graft_role_create graft_linear_create, graft_embedding_create;
extern const struct graft_linear graft_linear_vtable;
extern const struct graft_embedding graft_embedding_vtable;

/* In decoder/; `data` is a struct graft_decoder_traits. */
graft_role_describe graft_causal_lm_describe, graft_decoder_describe, graft_decoder_layer_describe,
    graft_attention_describe, graft_mlp_describe, graft_rms_norm_describe, graft_rotary_describe;
graft_role_create graft_causal_lm_create, graft_decoder_create, graft_decoder_layer_create, graft_attention_create,
    graft_mlp_create, graft_rms_norm_create, graft_rotary_create;
extern const struct graft_causal_lm graft_causal_lm_vtable;
extern const struct graft_base_model graft_decoder_vtable;
extern const struct graft_decoder_layer graft_decoder_layer_vtable;
extern const struct graft_self_attention graft_attention_vtable;
extern const struct graft_mlp graft_mlp_vtable;
extern const struct graft_norm graft_rms_norm_vtable;
extern const struct graft_rotary graft_rotary_vtable;

/* In moe/; `data` is a struct graft_decoder_traits. */
graft_role_describe graft_sparse_moe_block_describe, graft_router_describe, graft_experts_describe;
graft_role_create graft_sparse_moe_block_create, graft_router_create, graft_experts_create;
extern const struct graft_mlp graft_sparse_moe_block_vtable;
extern const struct graft_router graft_router_vtable;
extern const struct graft_experts graft_experts_vtable;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/interfaces.h"

#include <string.h>

#include "graft/activation.h"
#include "graft/attention.h"
#include "graft/attention_block.h"
#include "graft/base_model.h"
#include "graft/causal_lm.h"
#include "graft/conv3d.h"
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
#include "graft/patch_embed.h"
#include "graft/patch_merger.h"
#include "graft/pooler.h"
#include "graft/residual_output.h"
#include "graft/rotary.h"
#include "graft/router.h"
#include "graft/sequence_classifier.h"
#include "graft/transform.h"
#include "graft/vision_attention.h"
#include "graft/vision_block.h"
#include "graft/vision_rotary.h"
#include "graft/vision_tower.h"

#define INTERFACE(id, type) \
    { id, offsetof(type, forward), offsetof(type, forward) + sizeof(((type *)0)->forward) }

static const struct graft_interface interfaces[] = {
    INTERFACE(GRAFT_INTERFACE_ACTIVATION, struct graft_activation),
    INTERFACE(GRAFT_INTERFACE_CAUSAL_LM, struct graft_causal_lm),
    INTERFACE(GRAFT_INTERFACE_DECODER_LAYER, struct graft_decoder_layer),
    INTERFACE(GRAFT_INTERFACE_EMBEDDING, struct graft_embedding),
    INTERFACE(GRAFT_INTERFACE_EXPERTS, struct graft_experts),
    INTERFACE(GRAFT_INTERFACE_LINEAR, struct graft_linear),
    INTERFACE(GRAFT_INTERFACE_MLP, struct graft_mlp),
    INTERFACE(GRAFT_INTERFACE_BASE_MODEL, struct graft_base_model),
    INTERFACE(GRAFT_INTERFACE_NORM, struct graft_norm),
    INTERFACE(GRAFT_INTERFACE_ROTARY, struct graft_rotary),
    INTERFACE(GRAFT_INTERFACE_ROUTER, struct graft_router),
    INTERFACE(GRAFT_INTERFACE_SELF_ATTENTION, struct graft_self_attention),
    INTERFACE(GRAFT_INTERFACE_ATTENTION_BLOCK, struct graft_attention_block),
    INTERFACE(GRAFT_INTERFACE_ENCODER, struct graft_encoder),
    INTERFACE(GRAFT_INTERFACE_ENCODER_LAYER, struct graft_encoder_layer),
    INTERFACE(GRAFT_INTERFACE_ENCODER_MODEL, struct graft_encoder_model),
    INTERFACE(GRAFT_INTERFACE_HEAD, struct graft_head),
    INTERFACE(GRAFT_INTERFACE_INPUT_EMBEDDINGS, struct graft_input_embeddings),
    INTERFACE(GRAFT_INTERFACE_MASKED_LM, struct graft_masked_lm),
    INTERFACE(GRAFT_INTERFACE_POOLER, struct graft_pooler),
    INTERFACE(GRAFT_INTERFACE_RESIDUAL_OUTPUT, struct graft_residual_output),
    INTERFACE(GRAFT_INTERFACE_SEQUENCE_CLASSIFIER, struct graft_sequence_classifier),
    INTERFACE(GRAFT_INTERFACE_TRANSFORM, struct graft_transform),
    INTERFACE(GRAFT_INTERFACE_CONV3D, struct graft_conv3d),
    INTERFACE(GRAFT_INTERFACE_PATCH_EMBED, struct graft_patch_embed),
    INTERFACE(GRAFT_INTERFACE_PATCH_MERGER, struct graft_patch_merger),
    INTERFACE(GRAFT_INTERFACE_VISION_ATTENTION, struct graft_vision_attention),
    INTERFACE(GRAFT_INTERFACE_VISION_BLOCK, struct graft_vision_block),
    INTERFACE(GRAFT_INTERFACE_VISION_ROTARY, struct graft_vision_rotary),
    INTERFACE(GRAFT_INTERFACE_VISION_TOWER, struct graft_vision_tower),
    {NULL, 0, 0},
};

const struct graft_interface *graft_interface_find(const char *id) {
    for (const struct graft_interface *at = interfaces; at->id != NULL; at++) {
        if (strcmp(at->id, id) == 0) {
            return at;
        }
    }
    return NULL;
}

const struct graft_interface *graft_interfaces(void) {
    return interfaces;
}

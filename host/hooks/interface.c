/* SPDX-License-Identifier: Apache-2.0 */
/* A vtable for each interface that leads to whatever is interposed. */
#include "hooks/interface.h"

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
#include "hooks/views.h"

/* For interface NAME: the vtable NAME_vtable, and NAME_run, which calls a module with untyped args. */
#define INTERFACE_FUNCTIONS(name)                                                                                      \
    static int name##_forward(void *self, const struct graft_call *call, const struct graft_##name##_args *args,       \
                              struct graft_error *error) {                                                             \
        const struct graft_forward_hook *interposed = self;                                                            \
        return interposed->forward(self, call, args, error);                                                           \
    }                                                                                                                  \
    static const struct graft_##name name##_vtable = {.struct_size = sizeof name##_vtable, .forward = name##_forward}; \
    static int name##_run(const struct graft_module *module, const struct graft_call *call, const void *args,          \
                          struct graft_error *error) {                                                                 \
        return graft_##name##_forward(module, call, args, error);                                                      \
    }

INTERFACE_FUNCTIONS(activation)
INTERFACE_FUNCTIONS(base_model)
INTERFACE_FUNCTIONS(causal_lm)
INTERFACE_FUNCTIONS(decoder_layer)
INTERFACE_FUNCTIONS(embedding)
INTERFACE_FUNCTIONS(experts)
INTERFACE_FUNCTIONS(linear)
INTERFACE_FUNCTIONS(mlp)
INTERFACE_FUNCTIONS(norm)
INTERFACE_FUNCTIONS(rotary)
INTERFACE_FUNCTIONS(router)
INTERFACE_FUNCTIONS(self_attention)
INTERFACE_FUNCTIONS(attention_block)
INTERFACE_FUNCTIONS(encoder)
INTERFACE_FUNCTIONS(encoder_layer)
INTERFACE_FUNCTIONS(encoder_model)
INTERFACE_FUNCTIONS(head)
INTERFACE_FUNCTIONS(input_embeddings)
INTERFACE_FUNCTIONS(masked_lm)
INTERFACE_FUNCTIONS(pooler)
INTERFACE_FUNCTIONS(residual_output)
INTERFACE_FUNCTIONS(sequence_classifier)
INTERFACE_FUNCTIONS(transform)
INTERFACE_FUNCTIONS(conv3d)
INTERFACE_FUNCTIONS(patch_embed)
INTERFACE_FUNCTIONS(patch_merger)
INTERFACE_FUNCTIONS(vision_attention)
INTERFACE_FUNCTIONS(vision_block)
INTERFACE_FUNCTIONS(vision_rotary)
INTERFACE_FUNCTIONS(vision_tower)

#define INTERFACE(id, name, batch_field) \
    { id, &name##_vtable, sizeof(struct graft_##name##_args), batch_field, name##_run, graft_views_of_##name }

static const struct interface interfaces[] = {
    INTERFACE(GRAFT_INTERFACE_ACTIVATION, activation, 0),
    INTERFACE(GRAFT_INTERFACE_BASE_MODEL, base_model, offsetof(struct graft_base_model_args, batch)),
    INTERFACE(GRAFT_INTERFACE_CAUSAL_LM, causal_lm, offsetof(struct graft_causal_lm_args, batch)),
    INTERFACE(GRAFT_INTERFACE_DECODER_LAYER, decoder_layer, offsetof(struct graft_decoder_layer_args, batch)),
    INTERFACE(GRAFT_INTERFACE_EMBEDDING, embedding, 0),
    INTERFACE(GRAFT_INTERFACE_EXPERTS, experts, 0),
    INTERFACE(GRAFT_INTERFACE_LINEAR, linear, 0),
    INTERFACE(GRAFT_INTERFACE_MLP, mlp, 0),
    INTERFACE(GRAFT_INTERFACE_NORM, norm, 0),
    INTERFACE(GRAFT_INTERFACE_ROTARY, rotary, offsetof(struct graft_rotary_args, batch)),
    INTERFACE(GRAFT_INTERFACE_ROUTER, router, 0),
    INTERFACE(GRAFT_INTERFACE_SELF_ATTENTION, self_attention, offsetof(struct graft_self_attention_args, batch)),
    INTERFACE(GRAFT_INTERFACE_ATTENTION_BLOCK, attention_block, offsetof(struct graft_attention_block_args, batch)),
    INTERFACE(GRAFT_INTERFACE_ENCODER, encoder, offsetof(struct graft_encoder_args, batch)),
    INTERFACE(GRAFT_INTERFACE_ENCODER_LAYER, encoder_layer, offsetof(struct graft_encoder_layer_args, batch)),
    INTERFACE(GRAFT_INTERFACE_ENCODER_MODEL, encoder_model, offsetof(struct graft_encoder_model_args, batch)),
    INTERFACE(GRAFT_INTERFACE_HEAD, head, 0),
    INTERFACE(GRAFT_INTERFACE_INPUT_EMBEDDINGS, input_embeddings, offsetof(struct graft_input_embeddings_args, batch)),
    INTERFACE(GRAFT_INTERFACE_MASKED_LM, masked_lm, offsetof(struct graft_masked_lm_args, batch)),
    INTERFACE(GRAFT_INTERFACE_POOLER, pooler, offsetof(struct graft_pooler_args, batch)),
    INTERFACE(GRAFT_INTERFACE_RESIDUAL_OUTPUT, residual_output, 0),
    INTERFACE(GRAFT_INTERFACE_SEQUENCE_CLASSIFIER, sequence_classifier,
              offsetof(struct graft_sequence_classifier_args, batch)),
    INTERFACE(GRAFT_INTERFACE_TRANSFORM, transform, 0),
    INTERFACE(GRAFT_INTERFACE_CONV3D, conv3d, 0),
    INTERFACE(GRAFT_INTERFACE_PATCH_EMBED, patch_embed, 0),
    INTERFACE(GRAFT_INTERFACE_PATCH_MERGER, patch_merger, 0),
    INTERFACE(GRAFT_INTERFACE_VISION_ATTENTION, vision_attention, offsetof(struct graft_vision_attention_args, batch)),
    INTERFACE(GRAFT_INTERFACE_VISION_BLOCK, vision_block, offsetof(struct graft_vision_block_args, batch)),
    INTERFACE(GRAFT_INTERFACE_VISION_ROTARY, vision_rotary, 0),
    INTERFACE(GRAFT_INTERFACE_VISION_TOWER, vision_tower, 0),
};

const struct interface *graft_observed_interface_find(const char *id) {
    for (size_t i = 0; i < sizeof interfaces / sizeof interfaces[0]; i++) {
        if (strcmp(interfaces[i].id, id) == 0) {
            return &interfaces[i];
        }
    }
    return NULL;
}

const void *graft_forward_hook_vtable(const char *interface_id) {
    const struct interface *interface = graft_observed_interface_find(interface_id);
    return interface != NULL ? interface->vtable : NULL;
}

int graft_has_forward_hook(const struct graft_node *node) {
    return node->module.forward != NULL &&
           node->module.forward == graft_forward_hook_vtable(node->maker->cls->interface_id);
}

int graft_observe_run(const char *interface_id, const struct graft_module *module, const struct graft_call *call,
                      const void *args, struct graft_error *error) {
    return graft_observed_interface_find(interface_id)->run(module, call, args, error);
}

size_t graft_observe_args_size(const char *interface_id, size_t *batch_field) {
    const struct interface *interface = graft_observed_interface_find(interface_id);
    *batch_field = interface != NULL ? interface->batch_field : 0;
    return interface != NULL ? interface->args_size : 0;
}

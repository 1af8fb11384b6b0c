/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/interfaces.h"

#include <string.h>

#include "graft/activation.h"
#include "graft/attention.h"
#include "graft/base_model.h"
#include "graft/causal_lm.h"
#include "graft/decoder_layer.h"
#include "graft/embedding.h"
#include "graft/experts.h"
#include "graft/linear.h"
#include "graft/mlp.h"
#include "graft/norm.h"
#include "graft/rotary.h"
#include "graft/router.h"

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

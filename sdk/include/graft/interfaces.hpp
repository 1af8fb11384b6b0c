/* SPDX-License-Identifier: Apache-2.0 */
/* The host's interfaces as C++ types, the template arguments of graft.hpp. An interface has the args of a call, the
 * vtable, its id, and `run`, which calls a module. For a plugin's own interface write a struct like these, whose `run`
 * is graft_module_forward. */
#ifndef GRAFT_INTERFACES_HPP
#define GRAFT_INTERFACES_HPP

#include "activation.h"
#include "attention.h"
#include "base_model.h"
#include "causal_conv1d.h"
#include "causal_lm.h"
#include "conv3d.h"
#include "decoder_layer.h"
#include "embedding.h"
#include "experts.h"
#include "linear.h"
#include "masked_lm.h"
#include "mixer.h"
#include "mlp.h"
#include "norm.h"
#include "patch_embed.h"
#include "patch_merger.h"
#include "rotary.h"
#include "router.h"
#include "sequence_classifier.h"
#include "token_classifier.h"
#include "vision_attention.h"
#include "vision_block.h"
#include "vision_rotary.h"
#include "vision_tower.h"

/* Keeps these symbols out of the plugin's exports. */
#pragma GCC visibility push(hidden)
namespace graft {

#define GRAFT_CPP_INTERFACE(name, interface_id)                                                                      \
    struct name {                                                                                                    \
        using args = graft_##name##_args;                                                                            \
        using vtable = graft_##name;                                                                                 \
        static constexpr const char *id = interface_id;                                                              \
        static int run(const graft_module *module, const graft_call *call, const args *values, graft_error *error) { \
            return graft_##name##_forward(module, call, values, error);                                              \
        }                                                                                                            \
    }

GRAFT_CPP_INTERFACE(activation, GRAFT_INTERFACE_ACTIVATION);
GRAFT_CPP_INTERFACE(base_model, GRAFT_INTERFACE_BASE_MODEL);
GRAFT_CPP_INTERFACE(causal_conv1d, GRAFT_INTERFACE_CAUSAL_CONV1D);
GRAFT_CPP_INTERFACE(causal_lm, GRAFT_INTERFACE_CAUSAL_LM);
GRAFT_CPP_INTERFACE(conv3d, GRAFT_INTERFACE_CONV3D);
GRAFT_CPP_INTERFACE(decoder_layer, GRAFT_INTERFACE_DECODER_LAYER);
GRAFT_CPP_INTERFACE(embedding, GRAFT_INTERFACE_EMBEDDING);
GRAFT_CPP_INTERFACE(experts, GRAFT_INTERFACE_EXPERTS);
GRAFT_CPP_INTERFACE(linear, GRAFT_INTERFACE_LINEAR);
GRAFT_CPP_INTERFACE(masked_lm, GRAFT_INTERFACE_MASKED_LM);
GRAFT_CPP_INTERFACE(mixer, GRAFT_INTERFACE_MIXER);
GRAFT_CPP_INTERFACE(mlp, GRAFT_INTERFACE_MLP);
GRAFT_CPP_INTERFACE(norm, GRAFT_INTERFACE_NORM);
GRAFT_CPP_INTERFACE(patch_embed, GRAFT_INTERFACE_PATCH_EMBED);
GRAFT_CPP_INTERFACE(patch_merger, GRAFT_INTERFACE_PATCH_MERGER);
GRAFT_CPP_INTERFACE(rotary, GRAFT_INTERFACE_ROTARY);
GRAFT_CPP_INTERFACE(router, GRAFT_INTERFACE_ROUTER);
GRAFT_CPP_INTERFACE(self_attention, GRAFT_INTERFACE_SELF_ATTENTION);
GRAFT_CPP_INTERFACE(sequence_classifier, GRAFT_INTERFACE_SEQUENCE_CLASSIFIER);
GRAFT_CPP_INTERFACE(token_classifier, GRAFT_INTERFACE_TOKEN_CLASSIFIER);
GRAFT_CPP_INTERFACE(vision_attention, GRAFT_INTERFACE_VISION_ATTENTION);
GRAFT_CPP_INTERFACE(vision_block, GRAFT_INTERFACE_VISION_BLOCK);
GRAFT_CPP_INTERFACE(vision_rotary, GRAFT_INTERFACE_VISION_ROTARY);
GRAFT_CPP_INTERFACE(vision_tower, GRAFT_INTERFACE_VISION_TOWER);

#undef GRAFT_CPP_INTERFACE

} // namespace graft
#pragma GCC visibility pop

#endif

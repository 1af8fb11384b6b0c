/* SPDX-License-Identifier: Apache-2.0 */
#include "fuse/signature.h"

#include <string.h>

#include "graft/activation.h"
#include "graft/attention.h"
#include "graft/attention_block.h"
#include "graft/linear.h"
#include "graft/mlp.h"
#include "graft/norm.h"
#include "graft/residual_output.h"
#include "graft/transform.h"

static const struct signature signatures[] = {
    {GRAFT_INTERFACE_ACTIVATION,
     {offsetof(struct graft_activation_args, x)},
     1,
     offsetof(struct graft_activation_args, y)},
    {GRAFT_INTERFACE_ATTENTION_BLOCK,
     {offsetof(struct graft_attention_block_args, hidden_states)},
     1,
     offsetof(struct graft_attention_block_args, output)},
    {GRAFT_INTERFACE_LINEAR, {offsetof(struct graft_linear_args, x)}, 1, offsetof(struct graft_linear_args, y)},
    {GRAFT_INTERFACE_MLP, {offsetof(struct graft_mlp_args, hidden_states)}, 1, offsetof(struct graft_mlp_args, output)},
    {GRAFT_INTERFACE_NORM,
     {offsetof(struct graft_norm_args, hidden_states), offsetof(struct graft_norm_args, residual)},
     2,
     offsetof(struct graft_norm_args, output)},
    {GRAFT_INTERFACE_RESIDUAL_OUTPUT,
     {offsetof(struct graft_residual_output_args, hidden_states),
      offsetof(struct graft_residual_output_args, residual)},
     2,
     offsetof(struct graft_residual_output_args, output)},
    {GRAFT_INTERFACE_SELF_ATTENTION,
     {offsetof(struct graft_self_attention_args, hidden_states)},
     1,
     offsetof(struct graft_self_attention_args, output)},
    {GRAFT_INTERFACE_TRANSFORM,
     {offsetof(struct graft_transform_args, hidden_states)},
     1,
     offsetof(struct graft_transform_args, output)},
};

const struct signature *graft_signature_find(const char *interface_id) {
    for (size_t i = 0; i < sizeof signatures / sizeof signatures[0]; i++) {
        if (strcmp(signatures[i].interface_id, interface_id) == 0) {
            return &signatures[i];
        }
    }
    return NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The MLP of a block. */
#include "arch/role.h"
#include "arch/vision/choices.h"

int graft_vision_mlp_describe(const struct graft_class *self, const struct graft_config *config,
                              const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    const struct graft_description *description = self->data;
    const struct graft_parts_mlp part = {
        .gate = graft_description_name(description, V_MLP_GATE),
        .up = graft_description_name(description, V_MLP_UP),
        .down = graft_description_name(description, V_MLP_DOWN),
        .act = graft_description_name(description, V_MLP_ACT_NAME),
    };
    return graft_parts_mlp_declare(&part, config, args, sink, error);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/role.h"

int graft_mlp_describe(const struct graft_class *self, const struct graft_config *config, const struct graft_args *args,
                       const struct graft_sink *sink, struct graft_error *error) {
    static const struct graft_parts_mlp part = {
        .gate = "gate_proj", .up = "up_proj", .down = "down_proj", .act = "act_fn"};
    (void)self;
    return graft_parts_mlp_declare(&part, config, args, sink, error);
}

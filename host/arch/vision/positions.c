/* SPDX-License-Identifier: Apache-2.0 */
/* A module whose only child is the table of learned positions. */
#include "arch/role.h"
#include "arch/vision/choices.h"
#include "graft/describe.h"

int graft_vision_positions_describe(const struct graft_class *self, const struct graft_config *config,
                                    const struct graft_args *args, const struct graft_sink *sink,
                                    struct graft_error *error) {
    (void)config;
    return graft_describe_given(sink, graft_description_name(self->data, V_POSITION_TABLE), "Embedding",
                                GRAFT_INTERFACE_EMBEDDING, args, error);
}

/* The instance is that child. */
int graft_vision_positions_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                                  struct graft_error *error) {
    *instance = (void *)(uintptr_t)graft_build_child(build, graft_description_name(cls->data, V_POSITION_TABLE), error);
    return error->code;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_embedding_args *args,
                   struct graft_error *error) {
    return graft_embedding_forward(instance, call, args, error);
}

const struct graft_embedding graft_vision_positions_vtable = {
    .struct_size = sizeof graft_vision_positions_vtable,
    .forward = forward,
};

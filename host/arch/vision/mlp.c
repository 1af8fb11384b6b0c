/* SPDX-License-Identifier: Apache-2.0 */
/* fc2(act(fc1(x))). */
#include "arch/role.h"
#include "arch/vision/vision_config.h"
#include "graft/describe.h"

struct mlp {
    struct graft_instance base;
    const struct graft_module *fc1; /* hidden_size -> intermediate_size */
    const struct graft_module *act;
    const struct graft_module *fc2; /* intermediate_size -> hidden_size */
    int64_t intermediate_size;
};

int graft_vision_mlp_describe(const struct graft_class *self, const struct graft_config *config,
                              const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    struct graft_config_section section;
    int64_t hidden = graft_args_int(args, "hidden_size", 0);
    int64_t *intermediate = sink->keep(sink->data, sizeof *intermediate, error);
    (void)self;
    int status =
        intermediate != NULL ? graft_config_section(config, "vision_config", &section, error) : GRAFT_ERROR_INTERNAL;
    if (status != GRAFT_OK) {
        return status;
    }
    *intermediate = graft_args_int(args, "intermediate_size", 0);
    status = graft_describe_linear(sink, "fc1", hidden, *intermediate, 1, error);
    if (status == GRAFT_OK) {
        status =
            section.view.kind(section.view.data, "hidden_act") == GRAFT_FIELD_ABSENT
                ? graft_describe_child(sink, "act", "QuickGELUActivation", GRAFT_INTERFACE_ACTIVATION, NULL, 0, error)
                : graft_describe_activation(sink, "act", &section.view, NULL, "hidden_act", error);
    }
    return status == GRAFT_OK ? graft_describe_linear(sink, "fc2", *intermediate, hidden, 1, error) : status;
}

int graft_vision_mlp_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                            struct graft_error *error) {
    const int64_t *intermediate = build->kept;
    (void)cls;
    struct mlp *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->intermediate_size = *intermediate;
    self->fc1 = graft_build_child(build, "fc1", error);
    self->act = graft_build_child(build, "act", error);
    self->fc2 = graft_build_child(build, "fc2", error);
    return graft_instance_finish(self, instance, error);
}

static int forward(void *instance, const struct graft_call *call, const struct graft_mlp_args *args,
                   struct graft_error *error) {
    const struct mlp *self = instance;
    int64_t tokens = args->tokens;
    float *inner = graft_scratch_floats(call, tokens, self->intermediate_size, error); /* [tokens, intermediate] */
    const struct graft_linear_args first = {sizeof first, 0, tokens, args->hidden_states, inner};
    const struct graft_activation_args act_args = {sizeof act_args, 0, tokens * self->intermediate_size, inner, inner};
    const struct graft_linear_args second = {sizeof second, 0, tokens, inner, args->output};
    if (inner == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    int status = graft_linear_forward(self->fc1, call, &first, error);
    if (status == GRAFT_OK) {
        status = graft_activation_forward(self->act, call, &act_args, error);
    }
    return status == GRAFT_OK ? graft_linear_forward(self->fc2, call, &second, error) : status;
}

const struct graft_mlp graft_vision_mlp_vtable = {
    .struct_size = sizeof graft_vision_mlp_vtable,
    .forward = forward,
};

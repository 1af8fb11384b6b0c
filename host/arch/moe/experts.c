/* SPDX-License-Identifier: Apache-2.0 */
/* All experts of a layer as two stacked parameters. What they compute is in run_experts.c. */
#include "arch/moe/experts.h"

#include "arch/decoder/decoder_config.h"
#include "arch/role.h"
#include "graft/describe.h"

int graft_experts_describe(const struct graft_class *self, const struct graft_config *config,
                           const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    struct graft_decoder_config decoder;
    (void)args;
    int status = graft_decoder_config_read(config, self->data, &decoder, error);
    if (status != GRAFT_OK) {
        return status;
    }
    const int64_t gate_up_shape[] = {decoder.num_experts, 2 * decoder.moe_intermediate_size, decoder.hidden_size};
    const int64_t down_shape[] = {decoder.num_experts, decoder.hidden_size, decoder.moe_intermediate_size};
    status = graft_describe_parameter(sink, "gate_up_proj", 3, gate_up_shape, 0, GRAFT_INIT_NONE, error);
    if (status == GRAFT_OK) {
        status = graft_describe_parameter(sink, "down_proj", 3, down_shape, 0, GRAFT_INIT_NONE, error);
    }
    return status == GRAFT_OK ? graft_describe_activation(sink, "act_fn", config, "hidden_act", error) : status;
}

int graft_experts_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                         struct graft_error *error) {
    struct graft_decoder_config decoder;
    int status = graft_decoder_config_read(build->config, cls->data, &decoder, error);
    if (status != GRAFT_OK) {
        return status;
    }
    struct graft_experts_instance *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->num_experts = decoder.num_experts;
    self->hidden_size = decoder.hidden_size;
    self->intermediate_size = decoder.moe_intermediate_size;
    self->gate_up_proj = graft_build_weight(build, "gate_up_proj", &status, error);
    self->down_proj = graft_build_weight(build, "down_proj", &status, error);
    self->act_fn = graft_build_child(build, "act_fn", &status, error);
    if (status != GRAFT_OK) {
        graft_instance_destroy(self);
        return status;
    }
    *instance = self;
    return GRAFT_OK;
}

const struct graft_experts graft_experts_vtable = {
    .struct_size = sizeof graft_experts_vtable,
    .forward = graft_experts_run,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* A layer: hidden_states + mixer(norm(hidden_states)). */
#include <stdlib.h>

#include "graft/decoder_layer.h"
#include "graft/describe.h"
#include "graft/kernels.h"
#include "mamba2.h"

struct block {
    const struct graft_module *norm;
    const struct graft_module *mixer;
    int64_t hidden_size;
};

int mamba2_block_describe(const struct graft_class *cls, const struct graft_config *config,
                          const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    (void)cls;
    (void)config;
    int status = graft_describe_given(sink, "norm", "Mamba2RMSNorm", GRAFT_INTERFACE_NORM, args, error);
    return status == GRAFT_OK ? graft_describe_given(sink, "mixer", "Mamba2Mixer", MAMBA2_INTERFACE_MIXER, args, error)
                              : status;
}

int mamba2_block_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                        struct graft_error *error) {
    struct block *self = calloc(1, sizeof *self);
    int status = GRAFT_OK;
    (void)cls;
    if (self == NULL) {
        return graft_fail_memory(error, build->path);
    }
    self->hidden_size = graft_args_int(build->args, "hidden_size", 0);
    self->norm = graft_build_child(build, "norm", &status, error);
    self->mixer = graft_build_child(build, "mixer", &status, error);
    if (status != GRAFT_OK) {
        free(self);
        return status;
    }
    *instance = self;
    return GRAFT_OK;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_decoder_layer_args *args,
                   struct graft_error *error) {
    const struct block *self = instance;
    int64_t tokens = args->batch->tokens;
    float *normed = graft_scratch_floats(call, tokens, self->hidden_size, error); /* [tokens, hidden_size] */
    float *output = graft_scratch_floats(call, tokens, self->hidden_size, error); /* [tokens, hidden_size] */
    const struct graft_norm_args norm_args = {sizeof norm_args, 0, tokens, args->hidden_states, NULL, normed};
    const struct mamba2_mixer_args mixer_args = {sizeof mixer_args, 0, args->batch, normed, output};
    if (normed == NULL || output == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    int status = graft_norm_forward(self->norm, call, &norm_args, error);
    if (status == GRAFT_OK) {
        status = graft_module_forward(self->mixer, call, &mixer_args, error);
    }
    return status == GRAFT_OK ? call->kernels->add(call, args->hidden_states, output, tokens * self->hidden_size, error)
                              : status;
}

const struct graft_decoder_layer mamba2_block_vtable = {.struct_size = sizeof mamba2_block_vtable, .forward = forward};

/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "arch/decoder/decoder_config.h"
#include "arch/role.h"

struct rotary {
    struct graft_instance base;
    int64_t head_dim;
    float inv_freq[]; /* [head_dim / 2] */
};

int graft_rotary_describe(const struct graft_class *self, const struct graft_config *config,
                          const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    struct graft_decoder_config decoder;
    (void)args;
    (void)sink;
    return graft_decoder_config_read(config, self->data, &decoder, error);
}

int graft_rotary_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                        struct graft_error *error) {
    struct graft_decoder_config decoder;
    int status = graft_decoder_config_read(build->config, cls->data, &decoder, error);
    if (status != GRAFT_OK) {
        return status;
    }
    struct rotary *self =
        graft_instance_new(build, sizeof *self + (size_t)(decoder.head_dim / 2) * sizeof(float), error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->head_dim = decoder.head_dim;
    graft_rope_config_inv_freq(&decoder.rope, self->head_dim, self->inv_freq);
    *instance = self;
    return GRAFT_OK;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_rotary_args *args,
                   struct graft_error *error) {
    const struct rotary *self = instance;
    int64_t half = self->head_dim / 2;
    (void)call;
    if (args->head_dim != self->head_dim) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, self->base.path, "head_dim: expected %lld, got %lld",
                               (long long)self->head_dim, (long long)args->head_dim);
    }
    for (int64_t t = 0; t < args->batch->tokens; t++) {
        float position = (float)args->batch->positions[t];
        float *cosines = args->cos + t * self->head_dim;
        float *sines = args->sin + t * self->head_dim;
        for (int64_t i = 0; i < half; i++) {
            float angle = position * self->inv_freq[i];
            cosines[i] = cosines[half + i] = cosf(angle);
            sines[i] = sines[half + i] = sinf(angle);
        }
    }
    return GRAFT_OK;
}

const struct graft_rotary graft_rotary_vtable = {
    .struct_size = sizeof graft_rotary_vtable,
    .forward = forward,
};

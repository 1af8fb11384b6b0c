/* SPDX-License-Identifier: Apache-2.0 */
#include "rotary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graft/describe.h"

struct sizes {
    int64_t rotary_dim;
    double theta;
};

struct rotary {
    int64_t rotary_dim;
    float inv_freq[]; /* [rotary_dim / 2] */
};

static int refuse_scaling(const struct graft_config *config, const char *field, struct graft_error *error) {
    const char *type = "default";
    int status = graft_config_string(config, field, &type, error);
    return status != GRAFT_OK || strcmp(type, "default") == 0
               ? status
               : graft_error_set(error, GRAFT_ERROR_MODEL, config->file, "%s: expected \"default\", got \"%s\"", field,
                                 type);
}

int gpt_neox_rotary_describe(const struct graft_class *self, const struct graft_config *config,
                             const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    static const char *const types[] = {"rope_parameters.rope_type", "rope_scaling.rope_type", "rope_scaling.type"};
    struct parts_sizes sizes;
    struct sizes *kept = sink->keep(sink->data, sizeof *kept, error);
    (void)self;
    (void)args;
    int status = kept != NULL ? parts_read_sizes(config, &sizes, error) : GRAFT_ERROR_INTERNAL;
    if (status == GRAFT_OK) {
        status = parts_read_rotary_dim(config, sizes.hidden_size / sizes.num_attention_heads, &kept->rotary_dim, error);
    }
    if (status == GRAFT_OK) {
        kept->theta = 10000.0;
        status = graft_config_real(config, "rope_parameters.rope_theta", 0.0, &kept->theta, error);
    }
    for (size_t i = 0; i < sizeof types / sizeof types[0] && status == GRAFT_OK; i++) {
        status = refuse_scaling(config, types[i], error);
    }
    return status;
}

int gpt_neox_rotary_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                           struct graft_error *error) {
    const struct sizes *sizes = build->kept;
    struct rotary *self = calloc(1, sizeof *self + (size_t)(sizes->rotary_dim / 2) * sizeof(float));
    (void)cls;
    if (self == NULL) {
        return graft_fail_memory(error, build->path);
    }
    self->rotary_dim = sizes->rotary_dim;
    for (int64_t i = 0; i < sizes->rotary_dim / 2; i++) {
        self->inv_freq[i] = 1.0f / powf((float)sizes->theta, (float)(2 * i) / (float)sizes->rotary_dim);
    }
    *instance = self;
    return GRAFT_OK;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_rotary_args *args,
                   struct graft_error *error) {
    const struct rotary *self = instance;
    int64_t half = self->rotary_dim / 2;
    (void)call;
    if (args->head_dim != self->rotary_dim) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, "GPTNeoXRotaryEmbedding", "head_dim: expected %lld, got %lld",
                               (long long)self->rotary_dim, (long long)args->head_dim);
    }
    for (int64_t t = 0; t < args->batch->tokens; t++) {
        float *cosines = args->cos + t * self->rotary_dim;
        float *sines = args->sin + t * self->rotary_dim;
        for (int64_t i = 0; i < half; i++) {
            float angle = (float)args->batch->positions[t] * self->inv_freq[i];
            cosines[i] = cosines[half + i] = cosf(angle);
            sines[i] = sines[half + i] = sinf(angle);
        }
    }
    return GRAFT_OK;
}

const struct graft_rotary gpt_neox_rotary_vtable = {
    .struct_size = sizeof gpt_neox_rotary_vtable,
    .forward = forward,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* Rotary angles by row and column: half of the frequencies are for rows, half for columns. */
#include <math.h>
#include <string.h>

#include "arch/role.h"
#include "arch/vision/choices.h"

struct rotary {
    struct graft_instance base;
    int64_t head_dim;
    float inv_freq[]; /* [head_dim / 4] */
};

struct kept {
    int64_t head_dim;
    double theta;
};

int graft_vision_rotary_describe(const struct graft_class *self, const struct graft_config *config,
                                 const struct graft_args *args, const struct graft_sink *sink,
                                 struct graft_error *error) {
    struct kept *kept = sink->keep(sink->data, sizeof *kept, error);
    struct graft_vision_reader reader;
    struct graft_vision_sizes sizes;
    (void)args;
    if (kept == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    graft_vision_reader_start(&reader, self->data, config, error);
    graft_vision_sizes_read(&reader, &sizes);
    *kept = (struct kept){sizes.head_dim, graft_read_real(&reader.of, V_ROTARY_THETA)};
    const char *type = graft_read_text(&reader.of, V_ROTARY_TYPE);
    if (reader.of.status == GRAFT_OK && strcmp(type, "axial") != 0) {
        graft_reader_fail(&reader.of, V_ROTARY_TYPE, "\"%s\" is not supported, expected axial", type);
    }
    return reader.of.status;
}

int graft_vision_rotary_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                               struct graft_error *error) {
    const struct kept *kept = build->kept;
    (void)cls;
    int64_t count = kept->head_dim / 4;
    struct rotary *self = graft_instance_new(build, sizeof *self + (size_t)count * sizeof(float), error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->head_dim = kept->head_dim;
    for (int64_t i = 0; i < count; i++) {
        self->inv_freq[i] = 1.0f / powf((float)kept->theta, (float)(2 * i) / (float)(2 * count));
    }
    *instance = self;
    return GRAFT_OK;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_vision_rotary_args *args,
                   struct graft_error *error) {
    const struct rotary *self = instance;
    int64_t quarter = self->head_dim / 4;
    (void)call;
    if (args->head_dim != self->head_dim) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, self->base.path, "head_dim: expected %lld, got %lld",
                               (long long)self->head_dim, (long long)args->head_dim);
    }
    for (int64_t t = 0; t < args->patches; t++) {
        const float position[2] = {(float)args->rows[t], (float)args->columns[t]};
        float *cosines = args->cos + t * self->head_dim;
        float *sines = args->sin + t * self->head_dim;
        for (int64_t i = 0; i < 2 * quarter; i++) {
            float angle = position[i / quarter] * self->inv_freq[i % quarter];
            cosines[i] = cosines[2 * quarter + i] = cosf(angle);
            sines[i] = sines[2 * quarter + i] = sinf(angle);
        }
    }
    return GRAFT_OK;
}

const struct graft_vision_rotary graft_vision_rotary_vtable = {
    .struct_size = sizeof graft_vision_rotary_vtable,
    .forward = forward,
};

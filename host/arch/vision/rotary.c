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

int graft_vision_rotary_describe(const struct graft_class *cls, const struct graft_config *config,
                                 const struct graft_args *args, const struct graft_sink *sink,
                                 struct graft_error *error) {
    struct graft_outline of;
    struct graft_vision_sizes sizes;
    graft_reader_start_in(&of.reader, cls->data, config, GRAFT_VISION_SECTION, -1, error);
    graft_vision_sizes_read(&of.reader, &sizes);
    const int64_t count = sizes.head_dim / 4;
    struct rotary *self = graft_vision_start(&of, cls, config, args, sink,
                                             sizeof *self + (size_t)count * sizeof self->inv_freq[0], 0, error);
    if (self == NULL) {
        return error->code;
    }
    const float theta = (float)graft_read_real(&of.reader, V_ROTARY_THETA);
    const char *type = graft_read_text(&of.reader, V_ROTARY_TYPE);
    if (error->code == GRAFT_OK && strcmp(type, "axial") != 0) {
        graft_reader_fail(&of.reader, V_ROTARY_TYPE, "\"%s\" is not supported, expected axial", type);
    }
    self->head_dim = sizes.head_dim;
    for (int64_t i = 0; i < count; i++) {
        self->inv_freq[i] = 1.0f / powf(theta, (float)(2 * i) / (float)(2 * count));
    }
    return error->code;
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

const struct graft_vision_rotary graft_vision_rotary_vtable = {.struct_size = sizeof graft_vision_rotary_vtable,
                                                               .forward = forward};

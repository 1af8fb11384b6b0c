/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "arch/decoder/decoder_config.h"
#include "arch/role.h"

struct rotary {
    struct graft_instance base;
    struct graft_rope_config rope;
    float inv_freq[]; /* [head_dim / 2]: of sequences that are no longer than graft_rope_fixed_length */
};

int graft_rotary_describe(const struct graft_class *self, const struct graft_config *config,
                          const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    const struct graft_decoder_config *decoder;
    (void)args;
    return graft_decoder_config_keep(config, self->data, sink, &decoder, error);
}

int graft_rotary_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                        struct graft_error *error) {
    const struct graft_decoder_config *decoder = build->kept;
    (void)cls;
    struct rotary *self =
        graft_instance_new(build, sizeof *self + (size_t)(decoder->head_dim / 2) * sizeof(float), error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->rope = decoder->rope;
    graft_rope_inv_freq(&self->rope, 0, self->inv_freq);
    *instance = self;
    return GRAFT_OK;
}

/* Where token `t` is on the axis that frequency number `i` turns with. */
static int64_t position_of(const struct rotary *self, const struct graft_batch *batch, int64_t t, int64_t i) {
    const int64_t *section = self->rope.mrope_section;
    if (batch->rotary_positions == NULL) {
        return batch->positions[t];
    }
    int64_t axis = i < section[0] ? 0 : (i < section[0] + section[1] ? 1 : 2);
    return batch->rotary_positions[axis * batch->tokens + t];
}

/* The tokens [begin, end) of the batch, with the frequencies inv_freq [head_dim / 2]. */
static void fill(const struct rotary *self, const struct graft_rotary_args *args, const float *inv_freq, int64_t begin,
                 int64_t end) {
    int64_t head_dim = self->rope.head_dim;
    int64_t half = head_dim / 2;
    float scale = (float)self->rope.attention_factor;
    for (int64_t t = begin; t < end; t++) {
        float *cosines = args->cos + t * head_dim;
        float *sines = args->sin + t * head_dim;
        for (int64_t i = 0; i < half; i++) {
            float angle = (float)position_of(self, args->batch, t, i) * inv_freq[i];
            cosines[i] = cosines[half + i] = cosf(angle) * scale;
            sines[i] = sines[half + i] = sinf(angle) * scale;
        }
    }
}

/* The largest position of sequence `s` up to the end of this batch, and one: without images that is its length. */
static int64_t length_of(const struct graft_batch *batch, int32_t s) {
    const int64_t *positions = batch->rotary_positions != NULL ? batch->rotary_positions : batch->positions;
    int32_t axes = batch->rotary_positions != NULL ? 3 : 1;
    int64_t last = -1;
    for (int32_t axis = 0; axis < axes; axis++) {
        for (int64_t t = batch->cu_seqlens[s]; t < batch->cu_seqlens[s + 1]; t++) {
            int64_t position = positions[axis * batch->tokens + t];
            last = position > last ? position : last;
        }
    }
    return last + 1;
}

/* Each sequence has the frequencies of its own length: what else is in the batch, or was before, makes no difference.
 * Keys in the cache keep the rotation that they were given. */
static int forward(void *instance, const struct graft_call *call, const struct graft_rotary_args *args,
                   struct graft_error *error) {
    const struct rotary *self = instance;
    const struct graft_batch *batch = args->batch;
    float *longer = graft_scratch_floats(call, self->rope.head_dim / 2, 1, error); /* [head_dim / 2] */
    if (longer == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    if (args->head_dim != self->rope.head_dim) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, self->base.path, "head_dim: expected %lld, got %lld",
                               (long long)self->rope.head_dim, (long long)args->head_dim);
    }
    for (int32_t s = 0; s < batch->sequences; s++) {
        const float *inv_freq = self->inv_freq;
        int64_t length = length_of(batch, s);
        if (length > graft_rope_fixed_length(&self->rope)) {
            graft_rope_inv_freq(&self->rope, length, longer);
            inv_freq = longer;
        }
        fill(self, args, inv_freq, batch->cu_seqlens[s], batch->cu_seqlens[s + 1]);
    }
    return GRAFT_OK;
}

const struct graft_rotary graft_rotary_vtable = {
    .struct_size = sizeof graft_rotary_vtable,
    .forward = forward,
};

/* SPDX-License-Identifier: Apache-2.0 */
#include "rope/angles.h"

#include <math.h>

/* The axis whose positions frequency number `i` is multiplied by: time, height or width. */
static int64_t axis_of(const struct graft_rope *rope, int64_t i) {
    const int64_t *section = rope->mrope_section;
    if (rope->interleaved_sections) {
        return i % 3 != 0 && i < 3 * section[i % 3] ? i % 3 : 0;
    }
    return i < section[0] ? 0 : (i < section[0] + section[1] ? 1 : 2);
}

/* The position of token `t` on that axis. */
static int64_t position_of(const struct graft_rope *rope, const struct graft_batch *batch, int64_t t, int64_t i) {
    return batch->rotary_positions == NULL ? batch->positions[t]
                                           : batch->rotary_positions[axis_of(rope, i) * batch->tokens + t];
}

/* Fills in the angles for the tokens of sequence `s`, with frequencies inv_freq [width / 2]. */
static void fill(const struct graft_rope *rope, const struct graft_batch *batch, int32_t s, const float *inv_freq,
                 float scale, float *cos, float *sin) {
    int64_t half = rope->width / 2;
    for (int64_t t = batch->cu_seqlens[s]; t < batch->cu_seqlens[s + 1]; t++) {
        float *cosines = cos + t * rope->width;
        float *sines = sin + t * rope->width;
        for (int64_t i = 0; i < half; i++) {
            float angle = (float)position_of(rope, batch, t, i) * inv_freq[i];
            cosines[i] = cosines[half + i] = cosf(angle) * scale;
            sines[i] = sines[half + i] = sinf(angle) * scale;
        }
    }
}

/* The largest position of sequence `s` up to the end of this batch, plus 1. Without images that is its length. */
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

/* A sequence's angles do not depend on other sequences. Keys in the cache keep the rotation that they got when they
 * were added. */
int graft_rope_angles(const struct graft_rope *rope, const struct graft_call *call, const struct graft_batch *batch,
                      float *cos, float *sin, struct graft_error *error) {
    int64_t mark = call->scratch_mark(call->scratch);
    float *inv_freq = graft_scratch_floats(call, rope->width / 2, 1, error); /* [width / 2] */
    int64_t length = 0;
    if (inv_freq == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    graft_rope_inv_freq(rope, length, inv_freq);
    for (int32_t s = 0; s < batch->sequences; s++) {
        int64_t fixed = graft_rope_fixed_length(rope);
        int64_t before = length > fixed ? length : 0;
        length = length_of(batch, s);
        if ((length > fixed ? length : 0) != before) {
            graft_rope_inv_freq(rope, length, inv_freq);
        }
        fill(rope, batch, s, inv_freq, graft_rope_scale(rope, length), cos, sin);
    }
    call->scratch_release(call->scratch, mark);
    return GRAFT_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "arch/decoder/attention.h"
#include "graft/convert.h"

/* Computes ALiBi's slopes. The first n heads, where n is a power of two, have slopes in a geometric sequence; the
 * remaining heads have the slopes in between. */
float *graft_attention_slopes(const struct graft_attention *self, const struct graft_pass *pass) {
    const struct graft_pass one = {pass->call, 1, pass->error};
    const int64_t heads = self->sizes.heads;
    int64_t n = 1;
    if (self->alibi == 0.0f) {
        return NULL;
    }
    float *slopes = graft_pass_floats(&one, heads);
    while (2 * n <= heads) {
        n *= 2;
    }
    for (int64_t h = 0; slopes != NULL && h < heads; h++) {
        const float step = h < n ? (float)(h + 1) : (float)(h - n) + 0.5f;
        const float slope = exp2f(-self->alibi * step / (float)n);
        slopes[h] = self->alibi_rounded ? graft_f32_from_bf16(graft_bf16_from_f32(slope)) : slope;
    }
    return slopes;
}

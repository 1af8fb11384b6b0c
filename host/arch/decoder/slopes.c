/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "arch/decoder/attention.h"
#include "graft/call.h"
#include "graft/convert.h"

/* Computes ALiBi's slopes. The first n heads, where n is a power of two, have slopes in a geometric sequence; the
 * remaining heads have the slopes in between. */
int graft_attention_slopes(const struct graft_attention_kept *kept, const struct graft_call *call, float **slopes,
                           struct graft_error *error) {
    const int64_t heads = kept->sizes.heads;
    int64_t n = 1;
    *slopes = NULL;
    if (kept->alibi == 0.0f) {
        return GRAFT_OK;
    }
    *slopes = graft_scratch_floats(call, heads, 1, error);
    if (*slopes == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    while (2 * n <= heads) {
        n *= 2;
    }
    for (int64_t h = 0; h < heads; h++) {
        const float step = h < n ? (float)(h + 1) : (float)(h - n) + 0.5f;
        const float slope = exp2f(-kept->alibi * step / (float)n);
        (*slopes)[h] = kept->alibi_rounded ? graft_f32_from_bf16(graft_bf16_from_f32(slope)) : slope;
    }
    return GRAFT_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/vision/stretch.h"

#include <math.h>

/* The weight of a row at `distance` (Keys 1981, equation 4). */
static float cubic(float distance) {
    static const float a = -0.75f;
    return distance <= 1.0f ? ((a + 2.0f) * distance - (a + 3.0f)) * distance * distance + 1.0f
                            : ((a * distance - 5.0f * a) * distance + 8.0f * a) * distance - 4.0f * a;
}

struct graft_taps graft_stretch_taps(const struct graft_stretch *stretch, int64_t i, int64_t size) {
    const float last = (float)(stretch->side - 1);
    const float at = stretch->has_corners ? (float)i * last / (float)(size > 1 ? size - 1 : 1)
                                          : ((float)i + 0.5f) * (float)stretch->side / (float)size - 0.5f;
    const float below = floorf(at);
    struct graft_taps taps = {.n = stretch->is_bicubic ? 4 : 2};
    for (int32_t k = 0; k < taps.n; k++) {
        const float row = below + (float)(stretch->is_bicubic ? k - 1 : k);
        const float distance = fabsf(at - row);
        taps.rows[k] = (int64_t)fminf(fmaxf(row, 0.0f), last);
        taps.weights[k] = stretch->is_bicubic ? cubic(distance) : fmaxf(1.0f - distance, 0.0f);
    }
    return taps;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Windows within which patches attend to each other (Bai et al. 2025, Qwen2.5-VL, section 2.1.1): squares of merged
 * patches, smaller at the right and lower edges. */
#ifndef GRAFT_ARCH_VISION_WINDOWS_H
#define GRAFT_ARCH_VISION_WINDOWS_H

#include "graft/image.h"

/* A grid of merged patches, [times, height, width], and the size of windows. */
struct graft_windows {
    int64_t times;
    int64_t height;
    int64_t width;
    int64_t side;
    int64_t merge; /* patches in a merged patch, in each direction */
};

/* [any] */
int64_t graft_windows_count(const struct graft_windows *windows);

/* [any] Fills order [times * height * width], the merged patches window by window, and cu_seqlens [count + 1], the
 * number of patches before each window. */
void graft_windows_fill(const struct graft_windows *windows, int32_t *order, int64_t *cu_seqlens);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/vision/windows.h"

static int64_t parts(int64_t whole, int64_t side) {
    return (whole + side - 1) / side;
}

int64_t graft_windows_count(const struct graft_windows *windows) {
    return windows->times * parts(windows->height, windows->side) * parts(windows->width, windows->side);
}

/* Adds the merged patches of the window that begins at a row and column; returns their number. */
static int64_t fill_window(const struct graft_windows *windows, int64_t time, int64_t row, int64_t column,
                           int32_t *order) {
    int64_t n = 0;
    for (int64_t y = row; y < row + windows->side && y < windows->height; y++) {
        for (int64_t x = column; x < column + windows->side && x < windows->width; x++) {
            order[n++] = (int32_t)((time * windows->height + y) * windows->width + x);
        }
    }
    return n;
}

void graft_windows_fill(const struct graft_windows *windows, int32_t *order, int64_t *cu_seqlens) {
    const int64_t down = parts(windows->height, windows->side), across = parts(windows->width, windows->side);
    cu_seqlens[0] = 0;
    for (int64_t i = 0; i < windows->times * down * across; i++) {
        const int64_t n = fill_window(windows, i / across / down, i / across % down * windows->side,
                                      i % across * windows->side, order);
        order += n;
        cu_seqlens[i + 1] = cu_seqlens[i] + n * windows->merge * windows->merge;
    }
}

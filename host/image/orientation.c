/* SPDX-License-Identifier: Apache-2.0 */
#include "image/orientation.h"

#include <string.h>

/* How to bring an image of each orientation upright: for pixel (x, y) of the result, its place in the stored image. */
static const struct {
    uint8_t transposed; /* x and y are exchanged first */
    uint8_t flip_x;     /* then x counts from the right of the stored image */
    uint8_t flip_y;
} turns[9] = {
    [2] = {0, 1, 0}, [3] = {0, 1, 1}, [4] = {0, 0, 1}, [5] = {1, 0, 0},
    [6] = {1, 0, 1}, [7] = {1, 1, 1}, [8] = {1, 1, 0},
};

int graft_pixels_turn(struct graft_pixels *pixels, int32_t orientation, const char *source, struct graft_error *error) {
    struct graft_pixels oriented;
    if (orientation < 2 || orientation > 8) {
        return GRAFT_OK;
    }
    int32_t transposed = turns[orientation].transposed;
    int status = graft_pixels_init(&oriented, transposed ? pixels->height : pixels->width,
                                   transposed ? pixels->width : pixels->height, source, error);
    if (status != GRAFT_OK) {
        return status;
    }
    for (int64_t y = 0; y < oriented.height; y++) {
        for (int64_t x = 0; x < oriented.width; x++) {
            int64_t from_x = transposed ? y : x;
            int64_t from_y = transposed ? x : y;
            from_x = turns[orientation].flip_x ? pixels->width - 1 - from_x : from_x;
            from_y = turns[orientation].flip_y ? pixels->height - 1 - from_y : from_y;
            memcpy(oriented.rgb + (y * oriented.width + x) * 3, pixels->rgb + (from_y * pixels->width + from_x) * 3, 3);
        }
    }
    oriented.has_key = pixels->has_key;
    memcpy(oriented.key, pixels->key, sizeof oriented.key);
    graft_pixels_finish(pixels);
    *pixels = oriented;
    return GRAFT_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "image/smart_resize.h"

#include <math.h>

#include "base/fail.h"

enum { MAX_RATIO = 200 };

/* The nearest multiple, or the even one of two that are equally near, as the reference rounds ties to even. */
static int64_t nearest(int64_t side, int64_t factor) {
    return (int64_t)nearbyint((double)side / (double)factor) * factor;
}

static int64_t below(double side, int64_t factor) {
    int64_t multiple = (int64_t)floor(side / (double)factor) * factor;
    return multiple > factor ? multiple : factor;
}

static int64_t above(double side, int64_t factor) {
    return (int64_t)ceil(side / (double)factor) * factor;
}

/* Scales both sides up so that each has at least `factor` pixels, and keeps their ratio. */
static void stretch(int64_t factor, int64_t *height, int64_t *width) {
    const double down = (double)factor / (double)*height, across = (double)factor / (double)*width;
    const double scale = down > across ? down : across;
    if (*height < factor || *width < factor) {
        *height = (int64_t)((double)*height * scale);
        *width = (int64_t)((double)*width * scale);
    }
}

int graft_smart_resize(int64_t height, int64_t width, const struct smart_bounds *bounds, const char *source,
                       struct smart_size *size, struct graft_error *error) {
    const int64_t factor = bounds->factor, frames = bounds->frames > 0 ? bounds->frames : 1;
    const int64_t counted = bounds->frames > 0 ? nearest(frames, bounds->frame_factor) : 1;
    const int64_t given_height = height, given_width = width;
    if (bounds->frames > 0) {
        stretch(factor, &height, &width);
    }
    const int64_t longer = height > width ? height : width;
    const int64_t shorter = height > width ? width : height;
    if ((double)longer / (double)shorter > MAX_RATIO) {
        return graft_error_set(error, GRAFT_ERROR_IO, source,
                               "%lld x %lld pixels: expected one side to be at most %d times the other",
                               (long long)given_width, (long long)given_height, MAX_RATIO);
    }
    *size = (struct smart_size){nearest(height, factor), nearest(width, factor)};
    const double pixels = (double)(frames * height * width);
    if (counted * size->height * size->width > bounds->max_pixels) {
        const double beta = sqrt(pixels / (double)bounds->max_pixels);
        *size = (struct smart_size){below((double)height / beta, factor), below((double)width / beta, factor)};
    } else if (counted * size->height * size->width < bounds->min_pixels) {
        const double beta = sqrt((double)bounds->min_pixels / pixels);
        *size = (struct smart_size){above((double)height * beta, factor), above((double)width * beta, factor)};
    }
    return GRAFT_OK;
}

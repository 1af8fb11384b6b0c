/* SPDX-License-Identifier: Apache-2.0 */
#include "image/smart_resize.h"

#include <math.h>

#include "base/fail.h"

enum { MAX_RATIO = 200 };

/* The nearest multiple, of two equally near ones the even one: the reference rounds as IEEE 754 does. */
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

int graft_smart_resize(int64_t height, int64_t width, int64_t factor, int64_t min_pixels, int64_t max_pixels,
                       const char *source, struct smart_size *size, struct graft_error *error) {
    int64_t longer = height > width ? height : width;
    int64_t shorter = height > width ? width : height;
    if ((double)longer / (double)shorter > MAX_RATIO) {
        return graft_error_set(error, GRAFT_ERROR_IO, source,
                               "%lld x %lld pixels: expected one side to be at most %d times the other",
                               (long long)width, (long long)height, MAX_RATIO);
    }
    *size = (struct smart_size){nearest(height, factor), nearest(width, factor)};
    if (size->height * size->width > max_pixels) {
        double beta = sqrt((double)(height * width) / (double)max_pixels);
        *size = (struct smart_size){below((double)height / beta, factor), below((double)width / beta, factor)};
    } else if (size->height * size->width < min_pixels) {
        double beta = sqrt((double)min_pixels / (double)(height * width));
        *size = (struct smart_size){above((double)height * beta, factor), above((double)width * beta, factor)};
    }
    return GRAFT_OK;
}

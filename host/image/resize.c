/* SPDX-License-Identifier: Apache-2.0 */
#include "image/resize.h"

#include <string.h>

#include "base/fail.h"
#include "image/resize_weights.h"

/* Computes the three channels of one output pixel; inputs are `step` bytes apart. */
static void combine(const struct resize_weights *weights, int64_t output, const uint8_t *from, int64_t step,
                    uint8_t *to) {
    const int32_t *weight = weights->weights + output * weights->width;
    int64_t count = weights->count[output];
    from += weights->first[output] * step;
    for (int64_t c = 0; c < 3; c++) {
        int64_t sum = ((int64_t)1 << weights->bits) / 2;
        for (int64_t i = 0; i < count; i++) {
            sum += (int64_t)from[i * step + c] * weight[i];
        }
        sum = sum < 0 ? 0 : sum >> weights->bits;
        to[c] = (uint8_t)(sum > 255 ? 255 : sum);
    }
}

static int resize_rows(const struct graft_pixels *from, int64_t width, struct graft_resize_method method,
                       const char *source, struct graft_pixels *to, struct graft_error *error) {
    struct resize_weights weights;
    int status = graft_pixels_init(to, width, from->height, source, error);
    if (status != GRAFT_OK) {
        return status;
    }
    if (graft_resize_weights_init(&weights, from->width, width, method) != 0) {
        status = graft_fail_memory(error, source);
    }
    for (int64_t y = 0; y < from->height && status == GRAFT_OK; y++) {
        for (int64_t x = 0; x < width; x++) {
            combine(&weights, x, from->rgb + y * from->width * 3, 3, to->rgb + (y * width + x) * 3);
        }
    }
    graft_resize_weights_finish(&weights);
    return status;
}

static int resize_columns(const struct graft_pixels *from, int64_t height, struct graft_resize_method method,
                          const char *source, struct graft_pixels *to, struct graft_error *error) {
    struct resize_weights weights;
    int status = graft_pixels_init(to, from->width, height, source, error);
    if (status != GRAFT_OK) {
        return status;
    }
    if (graft_resize_weights_init(&weights, from->height, height, method) != 0) {
        status = graft_fail_memory(error, source);
    }
    for (int64_t y = 0; y < height && status == GRAFT_OK; y++) {
        for (int64_t x = 0; x < from->width; x++) {
            combine(&weights, y, from->rgb + x * 3, from->width * 3, to->rgb + (y * from->width + x) * 3);
        }
    }
    graft_resize_weights_finish(&weights);
    return status;
}

/* Whether columns are resized before rows. The order changes the last bit, since the intermediate image is rounded to 8
 * bits. Pillow 13 begins with the columns if they shrink by more than twice as much as the rows; earlier versions
 * always begin with the rows, like torchvision. */
static int columns_first(const struct graft_pixels *from, int64_t width, int64_t height, int32_t backend) {
    return backend == GRAFT_RESIZE_PILLOW && height < from->height && from->height - height > 2 * (from->width - width);
}

/* Resizes in one direction: to `size` columns, or rows. */
static int resize_along(int columns, const struct graft_pixels *from, int64_t size, struct graft_resize_method method,
                        const char *source, struct graft_pixels *to, struct graft_error *error) {
    return columns ? resize_columns(from, size, method, source, to, error)
                   : resize_rows(from, size, method, source, to, error);
}

static int copy(const struct graft_pixels *from, const char *source, struct graft_pixels *to,
                struct graft_error *error) {
    int status = graft_pixels_init(to, from->width, from->height, source, error);
    if (status == GRAFT_OK) {
        memcpy(to->rgb, from->rgb, (size_t)(from->width * from->height * 3));
    }
    return status;
}

int graft_pixels_resize(const struct graft_pixels *from, int64_t width, int64_t height,
                        struct graft_resize_method method, const char *source, struct graft_pixels *to,
                        struct graft_error *error) {
    struct graft_pixels middle = {0};
    int status;
    *to = (struct graft_pixels){0};
    if (width == from->width && height == from->height) {
        return copy(from, source, to, error);
    }
    if (width == from->width || height == from->height) {
        int columns = width == from->width;
        status = resize_along(columns, from, columns ? height : width, method, source, to, error);
    } else {
        int columns = columns_first(from, width, height, method.backend);
        status = resize_along(columns, from, columns ? height : width, method, source, &middle, error);
        if (status == GRAFT_OK) {
            status = resize_along(!columns, &middle, columns ? width : height, method, source, to, error);
        }
    }
    graft_pixels_finish(&middle);
    if (status != GRAFT_OK) {
        graft_pixels_finish(to);
    }
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "image/resize_weights.h"

#include <math.h>

#include "base/alloc.h"

enum { PILLOW_BITS = 22 };

/* The bicubic kernel: Keys 1981, eq. 4, with the slope a = -1/2. */
static double cubic(double x) {
    static const double a = -0.5;
    x = fabs(x);
    if (x < 1.0) {
        return ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0;
    }
    return x < 2.0 ? (((x - 5.0) * x + 8.0) * x - 4.0) * a : 0.0;
}

static double triangle(double x) {
    x = fabs(x);
    return x < 1.0 ? 1.0 - x : 0.0;
}

static double filter(int32_t resample, double x) {
    return resample == GRAFT_RESAMPLE_BICUBIC ? cubic(x) : triangle(x);
}

/* Computes the weights of one output: those of the inputs within `support` of its centre, which add up to 1. `exact` is
 * scratch memory for them. */
static void fill(struct resize_weights *weights, int64_t output, int64_t inputs, double scale, double support,
                 int32_t resample, double *exact) {
    double stretch = scale > 1.0 ? scale : 1.0;
    double centre = ((double)output + 0.5) * scale;
    int64_t first = (int64_t)(centre - support + 0.5);
    int64_t end = (int64_t)(centre + support + 0.5);
    double sum = 0.0;
    first = first > 0 ? first : 0;
    end = end < inputs ? end : inputs;
    weights->first[output] = first;
    weights->count[output] = end - first;
    for (int64_t i = 0; i < end - first; i++) {
        exact[i] = filter(resample, ((double)(i + first) - centre + 0.5) * (1.0 / stretch));
        sum += exact[i];
    }
    for (int64_t i = 0; i < end - first && sum != 0.0; i++) {
        exact[i] /= sum;
    }
}

/* The largest number of fractional bits, at most Pillow's, with which `count` weights stay below 2^15. */
static int32_t bits_within_16(const double *exact, int64_t count) {
    double largest = 0.0;
    int32_t bits = 0;
    for (int64_t i = 0; i < count; i++) {
        largest = exact[i] > largest ? exact[i] : largest;
    }
    while (bits < PILLOW_BITS && largest * (double)(1 << (bits + 1)) + 0.5 < (double)(1 << 15)) {
        bits++;
    }
    return bits;
}

static void round_all(struct resize_weights *weights, const double *exact, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        double scaled = exact[i] * (double)(1 << weights->bits);
        weights->weights[i] = (int32_t)(exact[i] < 0.0 ? scaled - 0.5 : scaled + 0.5);
    }
}

int graft_resize_weights_init(struct resize_weights *weights, int64_t inputs, int64_t outputs,
                              struct graft_resize_method method) {
    double scale = (double)inputs / (double)outputs;
    double support = (method.resample == GRAFT_RESAMPLE_BICUBIC ? 2.0 : 1.0) * (scale > 1.0 ? scale : 1.0);
    *weights = (struct resize_weights){.outputs = outputs, .width = (int64_t)ceil(support) * 2 + 1};
    weights->first = graft_alloc((size_t)outputs, sizeof *weights->first);
    weights->count = graft_alloc((size_t)outputs, sizeof *weights->count);
    weights->weights = graft_alloc((size_t)outputs, (size_t)weights->width * sizeof *weights->weights);
    double *exact = graft_alloc((size_t)outputs, (size_t)weights->width * sizeof *exact); /* [outputs, width] */
    int failed = weights->first == NULL || weights->count == NULL || weights->weights == NULL || exact == NULL;
    if (!failed) {
        int64_t count = outputs * weights->width;
        for (int64_t i = 0; i < outputs; i++) {
            fill(weights, i, inputs, scale, support, method.resample, exact + i * weights->width);
        }
        weights->bits = method.backend == GRAFT_RESIZE_PILLOW ? PILLOW_BITS : bits_within_16(exact, count);
        round_all(weights, exact, count);
    }
    graft_free(exact);
    return failed ? -1 : 0;
}

void graft_resize_weights_finish(struct resize_weights *weights) {
    graft_free(weights->first);
    graft_free(weights->count);
    graft_free(weights->weights);
}

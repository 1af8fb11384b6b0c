/* SPDX-License-Identifier: Apache-2.0 */
#include "quantize.h"

#include <math.h>
#include <string.h>

#include "loops.h"

static int64_t group_size;

void int8_set_group_size(int64_t columns) {
    group_size = columns;
}

int64_t int8_groups(int64_t columns) {
    return group_size > 0 && columns % group_size == 0 ? columns / group_size : 1;
}

static int64_t columns_of_group(int64_t columns) {
    return columns / int8_groups(columns);
}

static int32_t quantize(const float *weights, int64_t n, int64_t first, void *codes, void *scale) {
    const struct int8_loops *loops = int8_loops_get();
    float largest = loops->largest(weights, n);
    float factor = 127.0F / largest;
    if (!isfinite(largest)) {
        return 0;
    }
    if (!isfinite(factor)) { /* zeros, or so small that f32 has no factor for them: below 4e-37 */
        factor = 0.0F;
        largest = 0.0F;
    }
    loops->quantize(weights, n, factor, (int8_t *)codes + first);
    largest /= 127.0F;
    memcpy(scale, &largest, sizeof largest);
    return 1;
}

const struct graft_quantizer int8_quantizer = {
    .code_dtype = GRAFT_DTYPE_I8,
    .scale_dtype = GRAFT_DTYPE_F32,
    .slots = 1,
    .vectors = 1,
    .group_size = columns_of_group,
    .quantize = quantize,
};

const struct graft_custom_operation int8_quantize_rows = {GRAFT_QUANTIZER_OPERATION("int8_rows", &int8_quantizer)};

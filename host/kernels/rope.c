/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/loops.h"
#include "kernels/table.h"

struct rotation {
    const struct graft_loops *loops;
    const struct graft_rope_args *args;
};

static void rotate_pairs(float *x, const float *cos, const float *sin, int64_t pairs) {
    for (int64_t i = 0; i < pairs; i++) {
        float a = x[2 * i];
        float b = x[2 * i + 1];
        x[2 * i] = a * cos[i] - b * sin[i];
        x[2 * i + 1] = b * cos[i] + a * sin[i];
    }
}

static void rotate_tokens(void *data, int64_t begin, int64_t end) {
    const struct rotation *rotation = (const struct rotation *)data;
    const struct graft_rope_args *args = rotation->args;
    int64_t half = args->width / 2;
    for (int64_t t = begin; t < end; t++) {
        const float *cos = args->cos + t * args->width;
        const float *sin = args->sin + t * args->width;
        for (int64_t h = 0; h < args->heads; h++) {
            float *head = args->x + t * args->stride + h * args->head_stride;
            if (args->layout == GRAFT_ROPE_HALVES) {
                rotation->loops->rotate(head, head + half, cos, sin, half);
            } else {
                rotate_pairs(head, cos, sin, half);
            }
        }
    }
}

int graft_rope(const struct graft_call *call, const struct graft_rope_args *args, struct graft_error *error) {
    struct rotation rotation = {graft_loops_get(), args};
    if (args->layout < GRAFT_ROPE_HALVES || args->layout > GRAFT_ROPE_INTERLEAVED || args->width < 0 ||
        args->width % 2 != 0 || args->head_stride < args->width) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, "",
                               "rope of %lld numbers a head in layout %d, heads %lld apart: expected an even width, "
                               "layout 0 or 1, and heads that are at least the width apart",
                               (long long)args->width, (int)args->layout, (long long)args->head_stride);
    }
    call->threads->parallel_for(args->tokens, graft_grain_rows(args->heads * args->width), rotate_tokens, &rotation);
    return GRAFT_OK;
}

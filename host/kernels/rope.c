/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/loops.h"
#include "kernels/table.h"

struct rotation {
    const struct graft_loops *loops;
    float *x; /* [tokens, heads, head_dim] */
    int64_t stride;
    int64_t heads;
    int64_t head_dim;
    const float *cos; /* [tokens, head_dim] */
    const float *sin; /* [tokens, head_dim] */
};

static void rotate_tokens(void *data, int64_t begin, int64_t end) {
    const struct rotation *rotation = (const struct rotation *)data;
    int64_t half = rotation->head_dim / 2;
    for (int64_t t = begin; t < end; t++) {
        const float *cos = rotation->cos + t * rotation->head_dim;
        const float *sin = rotation->sin + t * rotation->head_dim;
        for (int64_t h = 0; h < rotation->heads; h++) {
            float *head = rotation->x + t * rotation->stride + h * rotation->head_dim;
            rotation->loops->rotate(head, head + half, cos, sin, half);
        }
    }
}

int graft_rope(const struct graft_call *call, float *x, int64_t stride, int64_t tokens, int64_t heads, int64_t head_dim,
               const float *cos, const float *sin, struct graft_error *error) {
    (void)error;
    struct rotation rotation = {graft_loops_get(), x, stride, heads, head_dim, cos, sin};
    call->threads->parallel_for(tokens, graft_grain_rows(heads * head_dim), rotate_tokens, &rotation);
    return GRAFT_OK;
}

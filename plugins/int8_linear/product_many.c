/* SPDX-License-Identifier: Apache-2.0 */
#include "product.h"

/* y = y * scale + bias, in f32: tokens [begin, end). Scales of several groups are in the products already. */
static void finish_tokens(void *data, int64_t begin, int64_t end) {
    const struct int8_product *p = data;
    for (int64_t t = begin; t < end; t++) {
        float *y = p->y + t * p->rows;
        for (int64_t r = 0; r < p->rows; r++) {
            y[r] = y[r] * (p->groups == 1 ? p->scales[r] : 1.0F) + (p->bias != NULL ? p->bias[r] : 0.0F);
        }
    }
}

static struct graft_weight one_block(const struct graft_row_block *block) {
    return (struct graft_weight){.struct_size = sizeof(struct graft_weight),
                                 .rows = block->rows,
                                 .blocks = block,
                                 .n_blocks = 1,
                                 .block_stride = sizeof *block};
}

int int8_product_many(const struct int8_product *product, const struct graft_call *call, struct graft_error *error) {
    static const float one = 1.0F;
    struct int8_product p = *product;
    const int is_whole = p.groups == 1;
    const struct graft_row_block code_rows = {sizeof code_rows, GRAFT_DTYPE_I8, p.weights, p.rows};
    const struct graft_row_block scale_rows = {sizeof scale_rows, GRAFT_DTYPE_F32, is_whole ? &one : p.scales,
                                               is_whole ? 1 : p.rows};
    const struct graft_weight codes = one_block(&code_rows), scales = one_block(&scale_rows);
    const struct graft_packed_rows rows = {
        .loops = p.rows_loops,
        .in_features = p.columns,
        .out_features = p.rows,
        .row_bytes = p.columns,
        .block_rows = is_whole ? p.rows : 1,
        .groups = p.groups,
        .group_size = p.columns / p.groups,
        .bits = 8,
        .codes = &codes,
        .scales = &scales,
    };
    int status = graft_packed_rows_multiply(&rows, call, p.x, p.tokens, p.y, error);
    if (status == GRAFT_OK && (is_whole || p.bias != NULL)) {
        call->threads->parallel_for(p.tokens, 8, finish_tokens, &p);
    }
    return status;
}

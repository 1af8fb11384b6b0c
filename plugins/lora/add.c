/* SPDX-License-Identifier: Apache-2.0 */
/* The products with lora_B of a few tokens, for all pairs of a module in one loop. */
#include "columns.h"
#include "graft/isa.h"
#include "graft/threads.h"

GRAFT_ISA_DECLARE(const struct lora_add_loops, lora_add_loops);

static const struct lora_add_loops *const tables[] = GRAFT_ISA_TABLES(lora_add_loops);

const struct lora_add_loops *lora_add_loops_get(void) {
    return tables[graft_isa_choose(sizeof tables / sizeof tables[0])];
}

/* A run of fewer bytes of lora_B is done before another thread has begun. */
enum { RUN_BYTES = 1 << 16, ROWS_AT_ONCE = 8 };

struct work {
    const struct lora_addition *additions;
    int32_t n;
    float *y;
    int64_t out_features;
};

static int64_t count_blocks(const struct lora_addition *addition) {
    return (addition->columns->out_features + LORA_BLOCK - 1) / LORA_BLOCK;
}

/* Of lora_B; many rows are as much work as more of it. */
static int64_t count_bytes(const struct lora_addition *addition) {
    const struct lora_columns *columns = addition->columns;
    const int64_t size = columns->bf16 != NULL ? (int64_t)sizeof *columns->bf16 : (int64_t)sizeof *columns->f32;
    return columns->out_features * columns->rank * size * (1 + addition->rows.n / ROWS_AT_ONCE);
}

/* How many additions, from number `first` on, are for the same outputs. */
static int32_t count_alike(const struct work *work, int32_t first) {
    int32_t n = 1;
    while (first + n < work->n && work->additions[first + n].first == work->additions[first].first) {
        n++;
    }
    return n;
}

static void add_block(const struct work *work, const struct lora_addition *addition, int64_t block) {
    const struct lora_columns *columns = addition->columns;
    const int64_t left = columns->out_features - block * LORA_BLOCK;
    const size_t bytes = (size_t)(left < LORA_BLOCK ? left : LORA_BLOCK) * sizeof(float);
    for (int64_t i = 0; i < addition->rows.n; i++) {
        const int64_t row = addition->rows.index != NULL ? addition->rows.index[i] : i;
        float *y = work->y + row * work->out_features + addition->first + block * LORA_BLOCK;
        float padded[LORA_BLOCK] = {0};
        float *sums = left < LORA_BLOCK ? memcpy(padded, y, bytes) : y;
        const int64_t first = block * columns->rank * LORA_BLOCK;
        if (columns->bf16 != NULL) {
            columns->loops->add_bf16(columns->bf16 + first, addition->narrow + row * columns->rank, columns->rank,
                                     columns->factor, sums);
        } else {
            columns->loops->add(columns->f32 + first, addition->narrow + row * columns->rank, columns->rank, sums);
        }
        if (sums != y) {
            memcpy(y, sums, bytes);
        }
    }
}

/* Blocks of all outputs that something is added to, numbered through. */
static void add_blocks(void *data, int64_t begin, int64_t end) {
    const struct work *work = data;
    for (int32_t first = 0, alike; first < work->n; first += alike) {
        const int64_t blocks = count_blocks(&work->additions[first]);
        alike = count_alike(work, first);
        for (int64_t block = begin > 0 ? begin : 0; block < end && block < blocks; block++) {
            for (int32_t i = first; i < first + alike; i++) {
                add_block(work, &work->additions[i], block);
            }
        }
        begin -= blocks;
        end -= blocks;
    }
}

void lora_add(const struct graft_call *call, const struct lora_addition *additions, int32_t n, float *y,
              int64_t out_features) {
    struct work work = {additions, n, y, out_features};
    int64_t blocks = 0, bytes = 0;
    for (int32_t first = 0, alike; first < n; first += alike) {
        blocks += count_blocks(&additions[first]);
        alike = count_alike(&work, first);
        for (int32_t i = first; i < first + alike; i++) {
            bytes += count_bytes(&additions[i]);
        }
    }
    if (blocks > 0) {
        call->threads->parallel_for(blocks, 1 + RUN_BYTES * blocks / (bytes + 1), add_blocks, &work);
    }
}

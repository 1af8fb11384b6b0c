/* SPDX-License-Identifier: Apache-2.0 */
/* Products of few tokens with lora_B, for all pairs of a module in one loop. */
#include "columns.h"
#include "graft/isa.h"
#include "graft/threads.h"
#include "magnitude.h"

GRAFT_ISA_DECLARE(const struct lora_add_loops, lora_add_loops);

static const struct lora_add_loops *const tables[] = GRAFT_ISA_TABLES(lora_add_loops);

const struct lora_add_loops *lora_add_loops_get(void) {
    return tables[graft_isa_choose(sizeof tables / sizeof tables[0])];
}

/* A part of lora_B of fewer than RUN_BYTES bytes is not divided among threads, as waking another thread would take
 * longer. Blocks are prefetched BLOCKS_AHEAD blocks before they are read, since the processor's own prefetcher needs
 * longer runs to start. */
enum { RUN_BYTES = 1 << 16, ROWS_AT_ONCE = 8, BLOCKS_AHEAD = 4 };

/* Bytes of lora_B for one output. */
static int64_t output_bytes(const struct lora_columns *columns) {
    return columns->rank * (columns->bf16 != NULL ? (int64_t)sizeof *columns->bf16 : (int64_t)sizeof *columns->f32);
}

/* Bytes of lora_B that an addition reads; many rows count as more bytes. */
static int64_t count_bytes(const struct lora_addition *addition) {
    const struct lora_columns *columns = addition->columns;
    return columns->out_features * output_bytes(columns) * (1 + addition->rows.n / ROWS_AT_ONCE);
}

static void fetch_block(const struct lora_columns *columns, int64_t block) {
    const char *numbers = columns->bf16 != NULL ? (const char *)columns->bf16 : (const char *)columns->f32;
    const int64_t bytes = LORA_BLOCK * output_bytes(columns);
    for (int64_t i = 0; i < bytes; i += 64) {
        __builtin_prefetch(numbers + block * bytes + i);
    }
}

static int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

void lora_add_block(const struct lora_columns *columns, int64_t block, const float *narrow, float *y) {
    const int64_t first = block * columns->rank * LORA_BLOCK;
    if (columns->bf16 != NULL) {
        columns->loops->add_bf16(columns->bf16 + first, narrow, columns->rank, columns->factor, y);
    } else {
        columns->loops->add(columns->f32 + first, narrow, columns->rank, y);
    }
}

/* Adds only outputs [begin, end) of a block. */
static void add_part(const struct lora_columns *columns, int64_t block, const float *narrow, int64_t begin, int64_t end,
                     float *y) {
    const size_t bytes = (size_t)(end - begin) * sizeof *y;
    float padded[LORA_BLOCK] = {0};
    memcpy(padded + begin, y, bytes);
    lora_add_block(columns, block, narrow, padded);
    memcpy(y, padded + begin, bytes);
}

/* Adds outputs [begin, end) of a block; `y` is where the first row of the block starts. */
static void add_block(const struct lora_additions *additions, const struct lora_addition *addition, int64_t block,
                      int64_t begin, int64_t end, float *y) {
    const struct lora_columns *columns = addition->columns;
    for (int64_t i = 0; i < addition->rows.n; i++) {
        const int64_t row = addition->rows.index != NULL ? addition->rows.index[i] : i;
        const float *narrow = addition->narrow + row * columns->rank;
        float *to = y + row * additions->out_features;
        if (end - begin == LORA_BLOCK) {
            lora_add_block(columns, block, narrow, to);
        } else {
            add_part(columns, block, narrow, begin, end, to);
        }
        if (addition->magnitude != NULL) {
            const int64_t first = block * LORA_BLOCK;
            lora_magnitude_apply(addition->magnitude, first + begin, first + end, to);
        }
    }
}

void lora_add_outputs(const struct lora_additions *additions, int64_t begin, int64_t end) {
    for (int32_t i = 0; i < additions->n; i++) {
        const struct lora_addition *addition = &additions->items[i];
        const int64_t last = smaller(end - addition->first, addition->columns->out_features);
        for (int64_t at = begin > addition->first ? begin - addition->first : 0, next; at < last; at = next) {
            const int64_t block = at / LORA_BLOCK, start = block * LORA_BLOCK;
            next = smaller(start + LORA_BLOCK, last);
            if (start + BLOCKS_AHEAD * LORA_BLOCK < last) {
                fetch_block(addition->columns, block + BLOCKS_AHEAD);
            }
            add_block(additions, addition, block, at - start, next - start, additions->y + addition->first + at);
        }
    }
}

/* Adds blocks [begin, end) of all outputs. */
static void add_blocks(void *data, int64_t begin, int64_t end) {
    lora_add_outputs(data, begin * LORA_BLOCK, end * LORA_BLOCK);
}

void lora_add(const struct graft_call *call, const struct lora_additions *additions) {
    const int64_t blocks = (additions->out_features + LORA_BLOCK - 1) / LORA_BLOCK;
    struct lora_additions own = *additions; /* a copy that bodies can be given */
    int64_t bytes = 0;
    for (int32_t i = 0; i < additions->n; i++) {
        bytes += count_bytes(&additions->items[i]);
    }
    if (bytes > 0) {
        call->threads->parallel_for(blocks, 1 + RUN_BYTES * blocks / bytes, add_blocks, &own);
    }
}

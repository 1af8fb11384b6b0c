/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/few.h"

#include <string.h>

#include "kernels/cpu.h"

enum { LINE = 32, QUARTERS = 4, EIGHT = LINE / QUARTERS, FOUR = 4 };

/* Numbers of a block of x, of all tokens: it stays in the first-level cache beside the rows. */
enum { BLOCK_NUMBERS = 12288 };

int graft_few_pairs_run(void) {
    return graft_cpu_isa() >= GRAFT_ISA_AVX512_BF16;
}

/* One quarter of 4 KB more than a multiple of them: numbers 4 KB apart share a set of the cache. */
int64_t graft_few_stride(int64_t columns) {
    enum { SETS = 2048, QUARTER = 512 };
    return (columns - QUARTER + SETS - 1) / SETS * SETS + QUARTER;
}

static int64_t round_up(int64_t n, int64_t to) {
    return (n + to - 1) / to * to;
}

int64_t graft_few_tokens(int64_t tokens) {
    return round_up(tokens, FOUR);
}

int64_t graft_few_numbers(int64_t tokens, int64_t columns) {
    return graft_few_tokens(tokens) * round_up(columns, LINE);
}

int64_t graft_few_block(int64_t tokens, int64_t columns) {
    int64_t blocks = 1 + (graft_few_numbers(tokens, columns) - 1) / BLOCK_NUMBERS;
    return round_up(columns / blocks, LINE);
}

/* One block's columns of token t; out is where the block begins. */
static void pack_block(const struct graft_loops *loops, const float *x, int64_t columns, int64_t tokens, int64_t t,
                       uint16_t *out) {
    const int64_t lines = (columns + LINE - 1) / LINE;
    for (int64_t i = 0; i < lines; i++) {
        uint16_t line[LINE] = {0};
        if (x != NULL) {
            loops->narrow(x + i * LINE, columns - i * LINE < LINE ? columns - i * LINE : LINE, line);
        }
        for (int64_t q = 0; q < QUARTERS; q++) {
            memcpy(out + ((q * lines + i) * tokens + t) * EIGHT, line + q * EIGHT, EIGHT * sizeof *line);
        }
    }
}

void graft_few_pack(const struct graft_loops *loops, const float *x, int64_t tokens, int64_t columns, int64_t t,
                    uint16_t *out) {
    const int64_t block = graft_few_block(tokens, columns), all = graft_few_tokens(tokens);
    for (int64_t k = 0; k < columns; k += block) {
        pack_block(loops, x != NULL ? x + k : NULL, columns - k < block ? columns - k : block, all, t, out + k * all);
    }
}

#if !defined(__x86_64__)
void graft_few_pairs(const struct graft_few *operands) {
    (void)operands; /* never runs here */
}

void graft_few_quarters(const struct graft_few *operands) {
    (void)operands;
}
#endif

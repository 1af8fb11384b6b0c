/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/few.h"

#include <string.h>

#include "kernels/cpu.h"
#include "kernels/round.h"

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

int64_t graft_few_tokens(int64_t tokens) {
    return graft_round_up(tokens, GRAFT_FEW_FOUR);
}

int64_t graft_few_numbers(int64_t tokens, int64_t columns) {
    return graft_few_tokens(tokens) * graft_round_up(columns, GRAFT_FEW_LINE);
}

int64_t graft_few_block(int64_t tokens, int64_t columns) {
    int64_t blocks = 1 + (graft_few_numbers(tokens, columns) - 1) / BLOCK_NUMBERS;
    return graft_round_up(columns / blocks, GRAFT_FEW_LINE);
}

/* One block's columns of token t; out is where the block begins. */
static void pack_block(const struct graft_loops *loops, const float *x, int64_t columns, int64_t tokens, int64_t t,
                       uint16_t *out) {
    const int64_t lines = (columns + GRAFT_FEW_LINE - 1) / GRAFT_FEW_LINE;
    for (int64_t i = 0; i < lines; i++) {
        uint16_t line[GRAFT_FEW_LINE] = {0};
        if (x != NULL) {
            loops->narrow(x + i * GRAFT_FEW_LINE,
                          columns - i * GRAFT_FEW_LINE < GRAFT_FEW_LINE ? columns - i * GRAFT_FEW_LINE : GRAFT_FEW_LINE,
                          line);
        }
        for (int64_t q = 0; q < GRAFT_FEW_QUARTERS; q++) {
            memcpy(out + ((q * lines + i) * tokens + t) * GRAFT_FEW_EIGHT, line + q * GRAFT_FEW_EIGHT,
                   GRAFT_FEW_EIGHT * sizeof *line);
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

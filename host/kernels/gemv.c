/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/gemv.h"

#include <string.h>

#include "kernels/cpu.h"
#include "kernels/round.h"

/* The maximum number of elements of a block of x, for all tokens together: a block stays in the first-level cache
 * together with the rows. */
enum { BLOCK_NUMBERS = 12288 };

int graft_gemv_pairs_run(void) {
    return graft_cpu_isa() >= GRAFT_ISA_AVX512_BF16;
}

/* Rounds up to a multiple of 4 KB plus 1 KB, since elements 4 KB apart share a set of the cache. */
int64_t graft_gemv_stride(int64_t columns) {
    enum { SETS = 2048, QUARTER = 512 };
    return (columns - QUARTER + SETS - 1) / SETS * SETS + QUARTER;
}

int64_t graft_gemv_tokens(int64_t tokens) {
    return graft_round_up(tokens, GRAFT_GEMV_FOUR);
}

int64_t graft_gemv_numbers(int64_t tokens, int64_t columns) {
    return graft_gemv_tokens(tokens) * graft_round_up(columns, GRAFT_GEMV_LINE);
}

int64_t graft_gemv_block(int64_t tokens, int64_t columns) {
    int64_t blocks = 1 + (graft_gemv_numbers(tokens, columns) - 1) / BLOCK_NUMBERS;
    return graft_round_up(columns / blocks, GRAFT_GEMV_LINE);
}

/* Packs the columns of one block of token t; `out` is the start of the block. */
static void pack_block(const struct graft_loops *loops, const float *x, int64_t columns, int64_t tokens, int64_t t,
                       uint16_t *out) {
    const int64_t lines = (columns + GRAFT_GEMV_LINE - 1) / GRAFT_GEMV_LINE;
    for (int64_t i = 0; i < lines; i++) {
        uint16_t line[GRAFT_GEMV_LINE] = {0};
        if (x != NULL) {
            loops->narrow(x + i * GRAFT_GEMV_LINE,
                          columns - i * GRAFT_GEMV_LINE < GRAFT_GEMV_LINE ? columns - i * GRAFT_GEMV_LINE
                                                                          : GRAFT_GEMV_LINE,
                          line);
        }
        for (int64_t q = 0; q < GRAFT_GEMV_QUARTERS; q++) {
            memcpy(out + ((q * lines + i) * tokens + t) * GRAFT_GEMV_EIGHT, line + q * GRAFT_GEMV_EIGHT,
                   GRAFT_GEMV_EIGHT * sizeof *line);
        }
    }
}

void graft_gemv_pack(const struct graft_loops *loops, const float *x, int64_t tokens, int64_t columns, int64_t t,
                     uint16_t *out) {
    const int64_t block = graft_gemv_block(tokens, columns), all = graft_gemv_tokens(tokens);
    for (int64_t k = 0; k < columns; k += block) {
        pack_block(loops, x != NULL ? x + k : NULL, columns - k < block ? columns - k : block, all, t, out + k * all);
    }
}

#if !defined(__x86_64__)
void graft_gemv_pairs(const struct graft_gemv *operands) {
    (void)operands; /* never called on this machine */
}

void graft_gemv_quarters(const struct graft_gemv *operands) {
    (void)operands;
}
#endif

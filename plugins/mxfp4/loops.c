/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of MXFP4 times tokens, a few of both at a time: what is decoded serves all tokens, what is loaded of a token all
 * rows. One build of it for each instruction set.
 *
 * A sum goes over blocks in their order, LANES sums side by side, whatever else is done in the same call.
 */
#include "loops.h"

#include "decode.h"

/* Of a tile. */
enum { TILE_ROWS = 4, TILE_TOKENS = 4 };

/* 2^(scale - 127): 0 is below what f32 has as exponents. */
MXFP4_INLINE float power(uint8_t scale) {
    const uint32_t bits = scale == 0 ? 1U << 22 : (uint32_t)scale << 23;
    float number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

MXFP4_INLINE float sum(floats v) {
    float lanes[LANES], total = 0.0F;
    memcpy(lanes, &v, sizeof lanes);
    for (int i = 0; i < LANES; i++) {
        total += lanes[i];
    }
    return total;
}

/* The weights of block number `at`: exact, as scales are powers of two. */
MXFP4_INLINE void weights_of(const struct mxfp4_weight *w, int64_t at, floats weights[VECTORS]) {
    const float scale = power(w->scales[at]);
    decode(w->blocks + at * MXFP4_BYTES, weights);
    for (int v = 0; v < VECTORS; v++) {
        weights[v] *= scale;
    }
}

/* `rows` rows of the job from `row` on, times `tokens` tokens from `token` on; both are constants where it is inlined.
 */
MXFP4_INLINE void tile(const struct graft_packed_stack_job *job, int64_t row, const int rows, int64_t token,
                       const int tokens) {
    const struct mxfp4_weight *w = job->weight;
    const int64_t blocks = job->columns / MXFP4_BLOCK;
    floats sums[TILE_ROWS][TILE_TOKENS] = {{{0}}};
    for (int64_t b = 0; b < blocks; b++) {
        floats inputs[TILE_TOKENS][VECTORS];
        for (int t = 0; t < tokens; t++) {
            load(job->x + (token + t) * job->columns + b * MXFP4_BLOCK, inputs[t]);
        }
        for (int r = 0; r < rows; r++) {
            floats weights[VECTORS];
            weights_of(w, (job->first + row + r) * blocks + b, weights);
            for (int t = 0; t < tokens; t++) {
                for (int v = 0; v < VECTORS; v++) {
                    sums[r][t] += weights[v] * inputs[t][v];
                }
            }
        }
    }
    for (int r = 0; r < rows; r++) {
        for (int t = 0; t < tokens; t++) {
            job->y[(token + t) * job->y_stride + row + r] = sum(sums[r][t]);
        }
    }
}

/* The job's tokens, with `rows` of its rows. */
MXFP4_INLINE void row_tiles(const struct graft_packed_stack_job *job, int64_t row, const int rows) {
    int64_t token = 0;
    for (; token + TILE_TOKENS <= job->tokens; token += TILE_TOKENS) {
        tile(job, row, rows, token, TILE_TOKENS);
    }
    for (; token < job->tokens; token++) {
        tile(job, row, rows, token, 1);
    }
}

static void multiply(const struct graft_packed_stack_job *job) {
    int64_t row = 0;
    for (; row + TILE_ROWS <= job->rows; row += TILE_ROWS) {
        row_tiles(job, row, TILE_ROWS);
    }
    for (; row < job->rows; row++) {
        row_tiles(job, row, 1);
    }
}

static void widen(const struct graft_packed_stack_job *job, graft_dtype dtype, void *out) {
    const int64_t n = job->rows * (job->columns / MXFP4_BLOCK);
    const int64_t first = job->first * (job->columns / MXFP4_BLOCK);
    for (int64_t b = 0; b < n; b++) {
        floats weights[VECTORS];
        float numbers[MXFP4_BLOCK];
        uint32_t bits[MXFP4_BLOCK];
        weights_of(job->weight, first + b, weights);
        store(weights, numbers);
        memcpy(bits, numbers, sizeof bits);
        for (int i = 0; i < MXFP4_BLOCK; i++) {
            if (dtype == GRAFT_DTYPE_F32) {
                ((float *)out)[b * MXFP4_BLOCK + i] = numbers[i];
            } else {
                ((uint16_t *)out)[b * MXFP4_BLOCK + i] = (uint16_t)(bits[i] >> 16); /* the rest is 0 */
            }
        }
    }
}

#if defined(__AVX512F__)
const struct graft_packed_stack_loops mxfp4_loops_avx512 = {"avx512", multiply, widen, NULL, NULL, NULL};
#elif defined(__AVX2__)
const struct graft_packed_stack_loops mxfp4_loops_avx2 = {"avx2", multiply, widen, NULL, NULL, NULL};
#else
const struct graft_packed_stack_loops mxfp4_loops_scalar = {"scalar", multiply, widen, NULL, NULL, NULL};
#endif

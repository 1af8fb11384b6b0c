/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of MXFP4 times tokens, a few of both at a time: what is decoded serves all tokens, what is loaded of a token all
 * rows. One build of it for each instruction set.
 *
 * A sum goes over blocks in their order, LANES sums side by side, whatever else is done in the same call.
 */
#include "loops.h"

#include "decode.h"
#include "graft/packed_vectors.h"

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

/* Vector v of a row's block as words of a portion: the numbers, or pairs of them. */
MXFP4_INLINE graft_packed_words words_of(const floats numbers[VECTORS], int v, int is_pairs) {
#if defined(__AVX512F__)
    const graft_packed_words even = (graft_packed_words)numbers[0], odd = (graft_packed_words)numbers[1];
    if (!is_pairs) {
        return v == 0 ? GRAFT_PACKED_LOWER(even, odd) : GRAFT_PACKED_UPPER(even, odd);
    }
#else
    const graft_packed_words a = (graft_packed_words)numbers[is_pairs ? 2 * v : v];
    const graft_packed_words b = (graft_packed_words)numbers[is_pairs ? 2 * v + 1 : v];
    const graft_packed_words even = GRAFT_PACKED_EVEN(a, b), odd = GRAFT_PACKED_ODD(a, b);
    if (!is_pairs) {
        return a;
    }
#endif
    return even >> 16 | (odd & 0xffff0000);
}

/* Inputs [begin, end) of block number `b` of each of LANES rows, side by side; the next block's go where it returns. */
MXFP4_INLINE uint32_t *turn_block(const struct graft_packed_stack_job *job, int64_t row, int64_t b, int64_t begin,
                                  int64_t end, const int is_pairs, int64_t width, uint32_t *out) {
    const int vectors = is_pairs ? VECTORS / 2 : VECTORS;
    const int64_t blocks = job->columns / MXFP4_BLOCK, step = is_pairs ? 2 : 1;
    graft_packed_words turned[MXFP4_BLOCK];
    for (int r = 0; r < LANES; r++) {
        const int64_t at = (job->first + row + r) * blocks + b;
        const struct mxfp4_weight *w = job->weight;
        floats numbers[VECTORS];
        weights_of(w, at, numbers);
        for (int v = 0; v < vectors; v++) {
            turned[v * LANES + r] = words_of(numbers, v, is_pairs);
        }
        __builtin_prefetch((const void *)((uintptr_t)w->blocks + (uintptr_t)((at + LANES * blocks) * MXFP4_BYTES)), 0,
                           2);
    }
    for (int v = 0; v < vectors; v++) {
        graft_packed_square(turned + v * LANES);
    }
    for (int64_t i = begin / step; i < end / step; i++, out += width) {
        memcpy(out, &turned[i], sizeof turned[i]);
    }
    return out;
}

static void turn(const struct graft_packed_stack_job *job, const struct graft_turned_portion *portion) {
    const int64_t width = portion->width, column = portion->column, last = column + portion->columns;
    const int is_pairs = portion->layout == GRAFT_TURNED_PAIRS;
    const int64_t lines = is_pairs ? portion->columns / 2 : portion->columns;
    for (int64_t at = 0; at < portion->rows; at += LANES) {
        uint32_t *out = (uint32_t *)portion->out + at / width * width * lines + at % width;
        for (int64_t i = column / MXFP4_BLOCK * MXFP4_BLOCK; i < last; i += MXFP4_BLOCK) {
            const int64_t begin = column > i ? column - i : 0, end = last - i < MXFP4_BLOCK ? last - i : MXFP4_BLOCK;
            out = is_pairs ? turn_block(job, portion->row + at, i / MXFP4_BLOCK, begin, end, 1, width, out)
                           : turn_block(job, portion->row + at, i / MXFP4_BLOCK, begin, end, 0, width, out);
        }
    }
}

#if defined(__AVX512F__)
const struct graft_packed_stack_loops mxfp4_loops_avx512 = {"avx512", multiply, widen, NULL, NULL, turn};
#elif defined(__AVX2__)
const struct graft_packed_stack_loops mxfp4_loops_avx2 = {"avx2", multiply, widen, NULL, NULL, turn};
#else
const struct graft_packed_stack_loops mxfp4_loops_scalar = {"scalar", multiply, widen, NULL, NULL, turn};
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Products of many tokens with tiles. Compiled twice: for AVX-512 and AMX, reached only if graft_cpu_isa() allows it,
 * and with emulated tiles (GRAFT_TILE_MODEL) for AVX-512 alone. */
#include "kernels/tiles.h"

#include <string.h>

#include "kernels/simd_avx512.h"
#include "kernels/tile_ops.h"
#include "kernels/tile_sums.h"

#ifdef GRAFT_TILE_MODEL
#define TABLE graft_tiles_model
#else
#define TABLE graft_tiles_amx
#endif

/* Four sums are computed together: two tiles of rows times two tiles of tokens. */
enum { TOKENS = GRAFT_TILE_TOKENS, STEP = GRAFT_TILE_COLUMNS, BLOCK = GRAFT_TILE_BLOCK, ROWS = 32 };

/* Sizes of a tile: elements of x, sums, and bytes of a row. */
enum { X_TILE = TOKENS * STEP, Y_TILE = 16 * TOKENS, LINE = 64 };

/* Tokens whose block of columns stays in the second-level cache, together with a panel's sums. */
enum { MOST_TOKENS = 512 };

/* Rows are copied, because tensors may begin anywhere in a file, and tile rows that cross cache lines are read twice.
 * With up to DIRECT_TOKENS tokens copying takes longer than that. The stride of copies is a line more than a power of
 * two, so that rows use different sets of the cache. */
enum { DIRECT_TOKENS = 64, COPY_STRIDE = BLOCK + STEP };

static int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static int64_t scratch_bytes(int64_t weights, int64_t rows, int64_t tokens) {
    int64_t sums = weights * graft_round_up(rows, ROWS) * graft_round_up(smaller(tokens, MOST_TOKENS), TOKENS);
    return ROWS * COPY_STRIDE * (int64_t)sizeof(uint16_t) + sums * (int64_t)sizeof(float);
}

/* Rounds the first n of 16 numbers. */
INLINE __m256i round16(const float *x, int64_t n) {
    vf wide = vf_load_part(x, smaller(n, VF_WIDTH));
    return _mm512_cvtepi32_epi16(_mm512_srli_epi32(_mm512_castps_si512(vf_round_bf16(wide)), 16));
}

static void pack(const float *x, int64_t x_stride, int64_t tokens, int64_t columns, uint16_t *out) {
    for (int64_t k = 0; k < columns; k += STEP, out += X_TILE) {
        vf square[TOKENS];
        for (int64_t t = 0; t < TOKENS; t++) {
            const float *from = x + t * x_stride + k;
            square[t] = vf_zero();
            if (t < tokens) {
                __m512i low = _mm512_castsi256_si512(round16(from, columns - k));
                __m256i high =
                    columns - k > VF_WIDTH ? round16(from + VF_WIDTH, columns - k - VF_WIDTH) : _mm256_setzero_si256();
                square[t] = _mm512_castsi512_ps(_mm512_inserti64x4(low, high, 1));
            }
        }
        vf_transpose(square);
        for (int64_t i = 0; i < TOKENS; i++) {
            vf_store((float *)(void *)(out + 2 * i * TOKENS), square[i]);
        }
    }
}

/* ROWS rows of a block of columns, and the next rows, which are prefetched meanwhile. Prefetching past the end does no
 * harm. */
struct rows {
    const uint16_t *w;
    int64_t stride; /* in numbers */
    int64_t steps;
    const uint16_t *next;
    int64_t next_stride;
    int64_t next_rows; /* next rows to prefetch with each pair of token tiles */
};

/* Multiplies by one or two tiles of tokens, `x_stride` numbers apart: sums [tiles, 2, 16 rows, 16 tokens]. Each step
 * loads all eight registers before it multiplies. */
INLINE void multiply_rows(const struct rows *rows, const uint16_t *x, int64_t x_stride, float *sums, const int tiles,
                          int is_first) {
    const uint16_t *w = rows->w;
    const uint16_t *next = rows->next;
    const int64_t w_bytes = rows->stride * (int64_t)sizeof *w;
    const int64_t next_rows = rows->next_rows;
    const int64_t next_stride = rows->next_stride;
    if (is_first) {
        tile_zero(0);
        tile_zero(1);
        tile_zero(2);
        tile_zero(3);
    } else {
        tile_load(0, sums, LINE);
        tile_load(1, sums + Y_TILE, LINE);
        if (tiles > 1) {
            tile_load(2, sums + 2 * Y_TILE, LINE);
            tile_load(3, sums + 3 * Y_TILE, LINE);
        }
    }
    for (int64_t steps = rows->steps; steps > 0; steps--, w += STEP, x += X_TILE, next += STEP) {
        for (int64_t i = 0; i < next_rows; i++) {
            _mm_prefetch((const char *)(next + i * next_stride), _MM_HINT_T1);
        }
        tile_load(4, w, w_bytes);
        tile_load(5, w + 16 * rows->stride, w_bytes);
        tile_load(6, x, LINE);
        if (tiles > 1) {
            tile_load(7, x + x_stride, LINE);
        }
        tile_multiply(0, 4, 6);
        tile_multiply(1, 5, 6);
        if (tiles > 1) {
            tile_multiply(2, 4, 7);
            tile_multiply(3, 5, 7);
        }
    }
    tile_store(0, sums, LINE);
    tile_store(1, sums + Y_TILE, LINE);
    if (tiles > 1) {
        tile_store(2, sums + 2 * Y_TILE, LINE);
        tile_store(3, sums + 3 * Y_TILE, LINE);
    }
}

/* Up to MOST_TOKENS tokens of a product. Rows are divided into strips of ROWS; strips of two weights alternate. */
struct portion {
    const struct graft_tiles_product *product;
    int64_t strips;
    int64_t token;
    int64_t tokens;
    uint16_t *copy; /* [ROWS, COPY_STRIDE] */
    float *sums;    /* [strips, tokens / TOKENS, 2, 16, TOKENS] */
};

static int weights_of(const struct graft_tiles_product *o) {
    return o->fold != NULL ? 2 : 1;
}

static float *sums_of(const struct portion *portion, int64_t strip, int64_t token) {
    return portion->sums + (strip * graft_round_up(portion->tokens, TOKENS) + token) * ROWS;
}

/* A strip of a weight's rows: where it begins, and its number of rows. */
static const uint16_t *strip_begin(const struct graft_tiles_product *o, int64_t strip) {
    const int n = weights_of(o);
    return (strip % n == 0 ? o->w : o->fold->up) + strip / n * ROWS * o->columns;
}

static int64_t strip_rows(const struct graft_tiles_product *o, int64_t strip) {
    return smaller(o->rows - strip / weights_of(o) * ROWS, ROWS);
}

static void write_strip(const struct portion *portion, int64_t strip, int64_t token) {
    const struct graft_tiles_product *o = portion->product;
    tile_sums_write(sums_of(portion, strip, token), portion->tokens - token, strip_rows(o, strip),
                    o->y + (portion->token + token) * o->y_stride + strip * ROWS, o->y_stride);
}

/* Computes act(gate) * up for a tile of tokens; `strip` is up's, and the one before it is gate's. Rows of this product
 * are columns of the next one, with pairs adjacent, so this is a tile of the next product's x without transposing. */
static void fold_strip(const struct portion *portion, int64_t strip, int64_t token) {
    const struct graft_tiles_product *o = portion->product;
    const struct graft_tiles_fold *fold = o->fold;
    float *gate = sums_of(portion, strip - 1, token);
    const int64_t column = fold->column + strip / 2 * ROWS;
    const int64_t block = column / BLOCK;
    uint16_t *out = fold->out + graft_tiles_offset(o->tokens, fold->columns, block, portion->token + token) +
                    (column - block * BLOCK) / STEP * X_TILE;
    fold->activate_gate(fold->activation, gate, sums_of(portion, strip, token), ROWS * TOKENS);
    for (int64_t i = 0; i < ROWS; i += 2, gate += 2 * TOKENS, out += 2 * TOKENS) {
        __m512i even = _mm512_srli_epi32(_mm512_castps_si512(vf_round_bf16(vf_load(gate))), 16);
        __m512i odd = _mm512_castps_si512(vf_round_bf16(vf_load(gate + TOKENS)));
        _mm512_storeu_si512(out, _mm512_or_si512(even, odd));
    }
}

/* Stores or folds the complete sums of a strip, for tiles of tokens from `token` on. */
static void finish_strip(const struct portion *portion, int64_t strip, int64_t token, int64_t tokens) {
    if (portion->product->fold != NULL && strip % 2 == 0) {
        return; /* gate: waits for up, the next strip */
    }
    for (int64_t t = token; t < token + tokens && t < portion->tokens; t += TOKENS) {
        if (portion->product->fold != NULL) {
            fold_strip(portion, strip, t);
        } else {
            write_strip(portion, strip, t);
        }
    }
}

static void copy_rows(const uint16_t *w, int64_t w_stride, int64_t rows, int64_t columns, uint16_t *out) {
    int64_t padded = graft_round_up(columns, STEP);
    for (int64_t r = 0; r < ROWS; r++, out += COPY_STRIDE) {
        int64_t there = r < rows ? columns : 0;
        memcpy(out, w + (there > 0 ? r : 0) * w_stride, (size_t)there * sizeof *out);
        memset(out + there, 0, (size_t)(padded - there) * sizeof *out);
    }
}

/* Prepares a strip's rows for loading. Incomplete steps or rows are padded with zeros in a copy. */
static struct rows get_rows(const struct portion *portion, int64_t strip, int64_t column) {
    const struct graft_tiles_product *o = portion->product;
    const uint16_t *w = strip_begin(o, strip) + column;
    int64_t columns = smaller(o->columns - column, BLOCK);
    int64_t there = strip_rows(o, strip);
    struct rows rows = {.w = w,
                        .stride = o->columns,
                        .steps = graft_round_up(columns, STEP) / STEP,
                        .next = w,
                        .next_stride = o->columns};
    if (o->tokens > DIRECT_TOKENS || there < ROWS || columns % STEP != 0) {
        copy_rows(w, o->columns, there, columns, portion->copy);
        rows.w = portion->copy;
        rows.stride = COPY_STRIDE;
    }
    int64_t turns = graft_round_up(portion->tokens, 2 * TOKENS) / (2 * TOKENS);
    if (strip + 1 < portion->strips) {
        rows.next = strip_begin(o, strip + 1) + column;
        rows.next_rows = (strip_rows(o, strip + 1) + turns - 1) / turns;
    } else if (column + BLOCK < o->columns) {
        rows.next = strip_begin(o, 0) + column + BLOCK;
        rows.next_rows = (strip_rows(o, 0) + turns - 1) / turns;
    }
    return rows;
}

/* Multiplies a block of columns, strip by strip. While a strip is multiplied, the previous one is finished if its sums
 * are complete; they have been stored by then, so the processor can do both at once. */
static void multiply_block(const struct portion *portion, int64_t column) {
    const struct graft_tiles_product *o = portion->product;
    int is_last = column + BLOCK >= o->columns;
    const uint16_t *x = o->x + graft_tiles_offset(o->tokens, o->columns, column / BLOCK, portion->token);
    for (int64_t strip = 0; strip < portion->strips; strip++) {
        struct rows rows = get_rows(portion, strip, column);
        int64_t x_stride = rows.steps * X_TILE;
        for (int64_t t = 0; t < portion->tokens; t += 2 * TOKENS) {
            const uint16_t *from = x + t / TOKENS * x_stride;
            if (t + TOKENS < portion->tokens) {
                multiply_rows(&rows, from, x_stride, sums_of(portion, strip, t), 2, column == 0);
            } else {
                multiply_rows(&rows, from, x_stride, sums_of(portion, strip, t), 1, column == 0);
            }
            rows.next += rows.next_rows * rows.next_stride;
            if (is_last && strip > 0) {
                finish_strip(portion, strip - 1, t, 2 * TOKENS);
            }
        }
    }
    if (is_last) {
        finish_strip(portion, portion->strips - 1, 0, portion->tokens);
    }
}

static void multiply(const struct graft_tiles_product *o) {
    struct portion portion = {
        .product = o,
        .strips = weights_of(o) * (graft_round_up(o->rows, ROWS) / ROWS),
        .copy = (uint16_t *)(void *)o->scratch,
        .sums = (float *)(void *)(o->scratch + ROWS * COPY_STRIDE * (int64_t)sizeof(uint16_t)),
    };
    tile_configure(&tiles_whole);
    for (; portion.token < o->tokens; portion.token += MOST_TOKENS) {
        portion.tokens = smaller(o->tokens - portion.token, MOST_TOKENS);
        for (int64_t column = 0; column < o->columns; column += BLOCK) {
            multiply_block(&portion, column);
        }
    }
    tile_release();
}

const struct graft_tiles TABLE = {.pack = pack, .scratch_bytes = scratch_bytes, .multiply = multiply};

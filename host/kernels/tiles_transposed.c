/* SPDX-License-Identifier: Apache-2.0 */
/* Products of many tokens with transposed portions, with tiles. Compiled twice, like tiles_product.c. */
#include "kernels/tiles_transposed.h"

#include <string.h>

#include "kernels/simd_avx512.h"
#include "kernels/tile_ops.h"

#ifdef GRAFT_TILE_MODEL
#define TABLE graft_tiles_transposed_model
#else
#define TABLE graft_tiles_transposed_amx
#endif

/* STRIP: rows of a portion that is made at once. The others are elements of operands and sums of a tile. */
enum {
    STRIP = GRAFT_TRANSPOSED_ROWS,
    SIDE = GRAFT_TILE_TOKENS,
    STEP = GRAFT_TILE_COLUMNS,
    BLOCK = GRAFT_TILE_BLOCK,
    TILE = SIDE * STEP,
    SUMS = SIDE * SIDE,
    LINE = 64
};

/* Tokens whose block of columns stays in the second-level cache, together with a panel's sums. */
enum { MOST_TOKENS = 512 };

static int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static int64_t scratch_bytes(int64_t rows, int64_t tokens) {
    return STRIP * BLOCK * (int64_t)sizeof(uint16_t) +
           rows * graft_round_up(smaller(tokens, MOST_TOKENS), SIDE) * (int64_t)sizeof(float);
}

static void pack(const float *x, int64_t x_stride, int64_t tokens, int64_t columns, uint16_t *out) {
    for (int64_t k = 0; k < columns; k += STEP) {
        for (int64_t t = 0; t < SIDE; t++, out += STEP) {
            for (int64_t i = 0; i < STEP; i += VF_WIDTH) {
                const int64_t there = t < tokens ? smaller(columns - k - i, VF_WIDTH) : 0;
                vf wide = there > 0 ? vf_round_bf16(vf_load_part(x + t * x_stride + k + i, there)) : vf_zero();
                _mm256_storeu_si256((__m256i *)(void *)(out + i),
                                    _mm512_cvtepi32_epi16(_mm512_srli_epi32(_mm512_castps_si512(wide), 16)));
            }
        }
    }
}

/* A block of columns of a strip, for up to MOST_TOKENS tokens. */
struct part {
    const struct graft_tiles_transposed_product *product;
    const uint16_t *w; /* [STRIP / SIDE, steps, 16 pairs, SIDE, 2] */
    const uint16_t *x; /* [tokens / SIDE, steps, SIDE, STEP] */
    int64_t steps;
    int64_t row; /* of y */
    int64_t token;
    int64_t tokens;
    float *sums; /* [STRIP / SIDE, tokens / SIDE, SIDE, SIDE] */
    int is_first;
    int is_last;
};

static float *sums_of(const struct part *part, int64_t t, int64_t r) {
    return part->sums + (r * graft_round_up(part->tokens, SIDE) / SIDE + t) * SUMS;
}

/* Where the sums of tile [t, r] are stored: in y once they are complete, if all of the tile's tokens exist. */
struct place {
    float *at;
    int64_t bytes; /* distance of rows */
};

static struct place place_of(const struct part *part, int64_t t, int64_t r) {
    const struct graft_tiles_transposed_product *o = part->product;
    if (!part->is_last || (t + 1) * SIDE > part->tokens) {
        return (struct place){sums_of(part, t, r), LINE};
    }
    return (struct place){o->y + (part->token + t * SIDE) * o->y_stride + part->row + r * SIDE,
                          o->y_stride * (int64_t)sizeof *o->y};
}

/* Multiplies one or two tiles of tokens, from tile t on, by two tiles of rows. */
INLINE void multiply_tiles(const struct part *part, int64_t t, const int tall, int64_t r) {
    const uint16_t *x = part->x + t * part->steps * TILE, *w = part->w + r * part->steps * TILE;
    const int64_t next = part->steps * TILE;
    if (part->is_first) {
        tile_zero(0);
        tile_zero(1);
        tile_zero(2);
        tile_zero(3);
    } else {
        tile_load(0, sums_of(part, t, r), LINE);
        tile_load(1, sums_of(part, t, r + 1), LINE);
        if (tall) {
            tile_load(2, sums_of(part, t + 1, r), LINE);
            tile_load(3, sums_of(part, t + 1, r + 1), LINE);
        }
    }
    for (int64_t steps = part->steps; steps > 0; steps--, x += TILE, w += TILE) {
        tile_load(4, x, LINE);
        if (tall) {
            tile_load(5, x + next, LINE);
        }
        tile_load(6, w, LINE);
        tile_load(7, w + next, LINE);
        tile_multiply(0, 4, 6);
        tile_multiply(1, 4, 7);
        if (tall) {
            tile_multiply(2, 5, 6);
            tile_multiply(3, 5, 7);
        }
    }
    const struct place left = place_of(part, t, r), right = place_of(part, t, r + 1);
    tile_store(0, left.at, left.bytes);
    tile_store(1, right.at, right.bytes);
    if (tall) {
        const struct place low_left = place_of(part, t + 1, r), low_right = place_of(part, t + 1, r + 1);
        tile_store(2, low_left.at, low_left.bytes);
        tile_store(3, low_right.at, low_right.bytes);
    }
}

/* Writes y of the last tokens if they do not fill a tile. */
static void write_rest(const struct part *part) {
    const struct graft_tiles_transposed_product *o = part->product;
    const int64_t t = part->tokens / SIDE, rest = part->tokens % SIDE;
    for (int64_t r = 0; r < STRIP / SIDE; r++) {
        for (int64_t i = 0; i < rest; i++) {
            memcpy(o->y + (part->token + t * SIDE + i) * o->y_stride + part->row + r * SIDE,
                   sums_of(part, t, r) + i * SIDE, LINE);
        }
    }
}

static void multiply_part(const struct part *part) {
    const int64_t tiles = graft_round_up(part->tokens, SIDE) / SIDE;
    for (int64_t r = 0; r < STRIP / SIDE; r += 2) {
        for (int64_t t = 0; t < tiles; t += 2) {
            if (t + 1 < tiles) {
                multiply_tiles(part, t, 1, r);
            } else {
                multiply_tiles(part, t, 0, r);
            }
        }
    }
    if (part->is_last) {
        write_rest(part);
    }
}

static void write_portion(const struct graft_tiles_transposed_product *o, int64_t row, int64_t column, int64_t columns,
                          void *out) {
    const struct graft_transposed_portion portion = {
        .struct_size = sizeof portion,
        .layout = GRAFT_TRANSPOSED_PAIRS,
        .row = o->row + row,
        .rows = STRIP,
        .column = column,
        .columns = columns,
        .width = SIDE,
        .out = out,
    };
    o->source->write(o->source->weight, &portion);
}

static void multiply(const struct graft_tiles_transposed_product *o) {
    uint16_t *w = (uint16_t *)(void *)o->scratch;
    float *sums = (float *)(void *)(w + STRIP * BLOCK);
    struct part part = {.product = o, .w = w};
    tile_configure(&tiles_whole);
    for (; part.token < o->tokens; part.token += MOST_TOKENS) {
        part.tokens = smaller(o->tokens - part.token, MOST_TOKENS);
        for (int64_t column = 0; column < o->columns; column += BLOCK) {
            const int64_t columns = smaller(o->columns - column, BLOCK);
            part.x = o->x + graft_tiles_offset(o->tokens, o->columns, column / BLOCK, part.token);
            part.steps = columns / STEP;
            part.is_first = column == 0;
            part.is_last = column + columns == o->columns;
            for (part.row = 0; part.row < o->rows; part.row += STRIP) {
                part.sums = sums + part.row * graft_round_up(part.tokens, SIDE);
                write_portion(o, part.row, column, columns, w);
                multiply_part(&part);
            }
        }
    }
    tile_release();
}

const struct graft_tiles_transposed TABLE = {.pack = pack, .scratch_bytes = scratch_bytes, .multiply = multiply};

/* SPDX-License-Identifier: Apache-2.0 */
/* Attention products with tiles. Compiled twice, like tiles_product.c. */
#include "kernels/tiles_attention.h"

#include <string.h>

#include "kernels/simd_avx512.h"
#include "kernels/tile_ops.h"

#ifdef GRAFT_TILE_MODEL
#define TABLE graft_tiles_attention_model
#else
#define TABLE graft_tiles_attention_amx
#endif

/* Rows of a tile, with as many pairs or sums in each; bytes of a cache line. */
enum { SIDE = 16, LINE = 64 };

_Static_assert(GRAFT_TILES_STRIP == MULTIPLY_VECTORS * VF_WIDTH, "what softmax and pairs of queries come in");

/* Where a tile is loaded from or stored to. */
struct place {
    void *at;
    int64_t bytes; /* distance of rows */
};

/* A copy of a tile at the edge, with zeros for missing rows and pairs. */
struct edge {
    _Alignas(LINE) uint32_t words[SIDE][SIDE];
};

static int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static void copy_rows(const char *from, int64_t from_bytes, int64_t rows, int64_t bytes, char *to, int64_t to_bytes) {
    for (int64_t r = 0; r < rows; r++) {
        memcpy(to + r * to_bytes, from + r * from_bytes, (size_t)bytes);
    }
}

/* Returns a tile of `rows` rows of `words` words: in place if it is complete, else a copy. */
INLINE struct place tile_of(const void *from, int64_t bytes, int64_t rows, int64_t words, struct edge *edge) {
    if (rows >= SIDE && words >= SIDE) {
        return (struct place){(void *)(uintptr_t)from, bytes};
    }
    memset(edge, 0, sizeof *edge);
    copy_rows((const char *)from, bytes, smaller(rows, SIDE), smaller(words, SIDE) * (int64_t)sizeof(uint32_t),
              (char *)edge, LINE);
    return (struct place){edge, LINE};
}

/* Returns where to store the sums of tokens t .. t + 15 and 16 rows of the weight from row r on. */
INLINE struct place sums_of(const struct graft_pairs *o, int64_t t, int64_t r, struct edge *edge) {
    const int64_t bytes = o->y_stride * (int64_t)sizeof *o->y;
    float *y = o->y + t * o->y_stride + r;
    return o->add
               ? tile_of(y, bytes, o->tokens - t, SIDE, edge)
               : (struct place){o->tokens - t >= SIDE ? (void *)y : (void *)edge, o->tokens - t >= SIDE ? bytes : LINE};
}

static void keep_sums(const struct graft_pairs *o, int64_t t, int64_t r, const struct edge *edge) {
    if (o->tokens - t < SIDE) {
        copy_rows((const char *)edge, LINE, o->tokens - t, LINE, (char *)(o->y + t * o->y_stride + r),
                  o->y_stride * (int64_t)sizeof *o->y);
    }
}

INLINE struct place x_of(const struct graft_pairs *o, int64_t t, int64_t k, struct edge *edge) {
    return tile_of(o->x + t * o->x_stride + 2 * k, o->x_stride * (int64_t)sizeof *o->x, o->tokens - t, o->pairs - k,
                   edge);
}

INLINE struct place w_of(const struct graft_pairs *o, int64_t k, int64_t r, struct edge *edge) {
    const int64_t stride = GRAFT_TILES_STRIP;
    return tile_of(o->w + k * stride + r, stride * (int64_t)sizeof *o->w, o->pairs - k, SIDE, edge);
}

/* Multiplies one or two tiles of tokens by one or two tiles of rows. */
INLINE void multiply_tiles(const struct graft_pairs *o, int64_t t, const int tall, int64_t r, const int wide) {
    struct edge edges[4];
    const struct place y0 = sums_of(o, t, r, &edges[0]);
    const struct place y1 = tall ? sums_of(o, t + SIDE, r, &edges[1]) : y0;
    const struct place y2 = wide ? sums_of(o, t, r + SIDE, &edges[2]) : y0;
    const struct place y3 = tall && wide ? sums_of(o, t + SIDE, r + SIDE, &edges[3]) : y0;
    if (o->add) {
        tile_load(0, y0.at, y0.bytes);
        tile_load(1, y1.at, y1.bytes);
        tile_load(2, y2.at, y2.bytes);
        tile_load(3, y3.at, y3.bytes);
    } else {
        tile_zero(0);
        tile_zero(1);
        tile_zero(2);
        tile_zero(3);
    }
    for (int64_t k = 0; k < o->pairs; k += SIDE) {
        struct edge parts[4];
        const struct place x0 = x_of(o, t, k, &parts[0]), w0 = w_of(o, k, r, &parts[2]);
        tile_load(4, x0.at, x0.bytes);
        if (tall) {
            const struct place x1 = x_of(o, t + SIDE, k, &parts[1]);
            tile_load(5, x1.at, x1.bytes);
        }
        tile_load(6, w0.at, w0.bytes);
        if (wide) {
            const struct place w1 = w_of(o, k, r + SIDE, &parts[3]);
            tile_load(7, w1.at, w1.bytes);
        }
        tile_multiply(0, 4, 6);
        if (tall) {
            tile_multiply(1, 5, 6);
        }
        if (wide) {
            tile_multiply(2, 4, 7);
        }
        if (tall && wide) {
            tile_multiply(3, 5, 7);
        }
    }
    tile_store(0, y0.at, y0.bytes);
    keep_sums(o, t, r, &edges[0]);
    if (tall) {
        tile_store(1, y1.at, y1.bytes);
        keep_sums(o, t + SIDE, r, &edges[1]);
    }
    if (wide) {
        tile_store(2, y2.at, y2.bytes);
        keep_sums(o, t, r + SIDE, &edges[2]);
    }
    if (tall && wide) {
        tile_store(3, y3.at, y3.bytes);
        keep_sums(o, t + SIDE, r + SIDE, &edges[3]);
    }
}

static void begin(void) {
    tile_configure(&tiles_whole);
}

static void end(void) {
    tile_release();
}

static void multiply_pairs(const struct graft_pairs *o) {
    for (int64_t t = 0; t < o->tokens; t += 2 * SIDE) {
        const int tall = t + SIDE < o->tokens;
        for (int64_t r = 0; r < o->rows; r += 2 * SIDE) {
            const int wide = r + SIDE < o->rows;
            if (tall && wide) {
                multiply_tiles(o, t, 1, r, 1);
            } else if (tall) {
                multiply_tiles(o, t, 1, r, 0);
            } else if (wide) {
                multiply_tiles(o, t, 0, r, 1);
            } else {
                multiply_tiles(o, t, 0, r, 0);
            }
        }
    }
}

/* Interleaves 16 numbers of two rows as pairs, with the first row in the lower halves. */
INLINE vf pair(const uint16_t *even, const uint16_t *odd, __mmask16 there) {
    __m512i low = even != NULL ? _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(there, even)) : _mm512_setzero_si512();
    __m512i high = odd != NULL ? _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(there, odd)) : _mm512_setzero_si512();
    return _mm512_castsi512_ps(_mm512_or_si512(low, _mm512_slli_epi32(high, 16)));
}

static void turn(const uint16_t *rows, int64_t row_stride, int64_t n, int64_t columns, uint16_t *out,
                 int64_t out_stride) {
    for (int64_t i = 0; i < n; i += 2 * SIDE) {
        for (int64_t c = 0; c < columns; c += SIDE) {
            const int64_t lanes = smaller(columns - c, SIDE);
            vf square[SIDE];
            for (int64_t p = 0; p < SIDE; p++) {
                const uint16_t *even = rows + (i + 2 * p) * row_stride + c;
                square[p] = pair(i + 2 * p < n ? even : NULL, i + 2 * p + 1 < n ? even + row_stride : NULL,
                                 (__mmask16)((1u << lanes) - 1u));
            }
            vf_transpose(square);
            for (int64_t l = 0; l < lanes; l++) {
                vf_store((float *)(void *)(out + (c + l) * out_stride + i), square[l]);
            }
        }
    }
}

const struct graft_tiles_attention TABLE = {
    .begin = begin,
    .end = end,
    .multiply_pairs = multiply_pairs,
    .turn = turn,
};

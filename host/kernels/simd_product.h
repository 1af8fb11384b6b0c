/* SPDX-License-Identifier: Apache-2.0 */
/* Dot products and small matrix products, in tiles whose sums stay in registers. */
#ifndef GRAFT_KERNELS_SIMD_PRODUCT_H
#define GRAFT_KERNELS_SIMD_PRODUCT_H

#include "kernels/simd_read.h"

struct dot_operands {
    const char *w;   /* [rows, columns] */
    int64_t w_bytes; /* from row to row */
    int64_t columns;
    const float *x; /* [tokens, columns] */
    int64_t x_stride;
    float *y; /* [tokens, rows] */
    int64_t y_stride;
    const char *next; /* [rows * columns] to prefetch; or NULL */
};

/* The distance of prefetching in bytes of a row, unless there is something else to prefetch. */
enum { STREAM_AHEAD = 2048 };

/* Multiplies rows r .. r + rows - 1 (DOT_ROWS or 1) by tokens t .. t + tokens - 1; both numbers are constants after
 * inlining, and so is `fetches`, here and below, which says whether there is a `next`. Each output has one vector of
 * sums, filled in the order of the columns whatever the size of the tile. Rows below are prefetched, or rows further
 * down if rows are short: each is often in a page of its own, where the processor's prefetcher starts anew. `next` is
 * prefetched in order. */
INLINE void dot_tile(const int32_t reading, const struct dot_operands *o, int64_t r, const int rows, int64_t t,
                     const int tokens, const int fetches) {
    const char *w = o->w + r * o->w_bytes;
    const float *x = o->x + t * o->x_stride;
    const int64_t size = graft_reading_size(reading);
    const int64_t ahead = rows * o->w_bytes > STREAM_AHEAD ? rows * o->w_bytes : STREAM_AHEAD;
    const char *next = fetches ? o->next + r * o->columns * size : NULL;
    vf sums[DOT_ROWS][DOT_TOKENS];
    vf row[DOT_ROWS];
    int64_t k = 0;
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < tokens; j++) {
            sums[i][j] = vf_zero();
        }
    }
    for (; k + VF_WIDTH <= o->columns; k += VF_WIDTH) {
        for (int i = 0; i < rows; i++) {
            const char *line = w + i * o->w_bytes + k * size + ahead;
            fetch_near(fetches ? next + (k * rows + i * VF_WIDTH) * size : line);
            row[i] = vf_read(reading, w + i * o->w_bytes, k);
        }
        for (int j = 0; j < tokens; j++) {
            vf numbers = vf_load(x + j * o->x_stride + k);
            for (int i = 0; i < rows; i++) {
                sums[i][j] = vf_fma(row[i], numbers, sums[i][j]);
            }
        }
    }
    for (int j = 0; j < tokens && k < o->columns; j++) {
        vf numbers = vf_load_part(x + j * o->x_stride + k, o->columns - k);
        for (int i = 0; i < rows; i++) {
            vf rest = vf_read_part(reading, w + i * o->w_bytes, k, o->columns - k);
            sums[i][j] = vf_fma(rest, numbers, sums[i][j]);
        }
    }
    for (int j = 0; j < tokens; j++) {
        float *y = o->y + (t + j) * o->y_stride + r;
        if (rows == DOT_ROWS) {
            vf_store_sums(y, sums[0][j], sums[1][j], sums[2][j], sums[3][j]);
        } else {
            y[0] = vf_sum(sums[0][j]);
        }
    }
}

/* A single token is limited by memory. STREAMS rows are multiplied in turn, a cache line each, since the additions for
 * one row would take longer than reading it. Elements STREAM_AHEAD bytes further are prefetched into the second-level
 * cache, to which more lines can be in flight than to the first-level cache. */
enum { STREAMS = 4, STREAM_TURN = 64 /* bytes of a row */ };

/* Returns sum + elements 0 .. columns - 1 of the row times those of x, in order. */
INLINE vf dot_turn(const int32_t reading, const char *w, const float *x, const int64_t columns, vf sum) {
    int64_t k = 0;
    for (; k + VF_WIDTH <= columns; k += VF_WIDTH) {
        sum = vf_fma(vf_read(reading, w, k), vf_load(x + k), sum);
    }
    if (k < columns) {
        sum = vf_fma(vf_read_part(reading, w, k, columns - k), vf_load_part(x + k, columns - k), sum);
    }
    return sum;
}

/* Like dot_turn for one whole cache line of the row, while another cache line is prefetched. */
INLINE vf dot_turn_ahead(const int32_t reading, const char *fetched, const char *w, const float *x, vf sum) {
    fetch_far(fetched);
    __asm__ volatile("" ::: "memory"); /* keeps the compiler from interleaving the cache lines */
    return dot_turn(reading, w, x, STREAM_TURN / graft_reading_size(reading), sum);
}

/* Multiplies rows r, r + part, r + 2 part and r + 3 part by the only token; the sums are those of dot_tile. What is
 * prefetched is in the same row, or in the one below, whose turn is next. */
INLINE void dot_streams(const int32_t reading, const struct dot_operands *o, int64_t r, int64_t part,
                        const int fetches) {
    const int64_t step = part * o->w_bytes;
    const int64_t size = graft_reading_size(reading);
    const char *w = o->w + r * o->w_bytes;
    const char *end = w + o->columns * size;
    const char *next = fetches ? o->next + r * STREAMS * o->columns * size : NULL;
    const float *x = o->x;
    float *y = o->y + r;
    vf a = vf_zero(), b = vf_zero(), c = vf_zero(), d = vf_zero();
    for (; w + STREAM_TURN <= end; w += STREAM_TURN, x += STREAM_TURN / size) {
        const char *ahead = w + STREAM_AHEAD;
        a = dot_turn_ahead(reading, fetches ? next : ahead, w, x, a);
        b = dot_turn_ahead(reading, fetches ? next + STREAM_TURN : ahead + step, w + step, x, b);
        c = dot_turn_ahead(reading, fetches ? next + 2 * STREAM_TURN : ahead + 2 * step, w + 2 * step, x, c);
        d = dot_turn_ahead(reading, fetches ? next + 3 * STREAM_TURN : ahead + 3 * step, w + 3 * step, x, d);
        next = fetches ? next + STREAMS * STREAM_TURN : NULL;
    }
    const int64_t rest = (end - w) / size;
    y[0] = vf_sum(dot_turn(reading, w, x, rest, a));
    y[part] = vf_sum(dot_turn(reading, w + step, x, rest, b));
    y[2 * part] = vf_sum(dot_turn(reading, w + 2 * step, x, rest, c));
    y[3 * part] = vf_sum(dot_turn(reading, w + 3 * step, x, rest, d));
}

/* Multiplies the first `rows` rows, a multiple of STREAMS, by the only token, taking a row of each quarter in turn:
 * memory is then read in long streams, which the processor's prefetcher follows better than jumps from row to row. */
INLINE void dot_quarters(const int32_t reading, const struct dot_operands *o, int64_t rows, const int fetches) {
    const int64_t part = rows / STREAMS;
    for (int64_t r = 0; r < part; r++) {
        dot_streams(reading, o, r, part, fetches);
    }
}

INLINE void dot_rows(const int32_t reading, const struct dot_operands *o, int64_t rows, int64_t tokens,
                     const int fetches) {
    int64_t r = tokens == 1 ? rows / STREAMS * STREAMS : 0;
    if (tokens == 1) {
        dot_quarters(reading, o, r, fetches);
    }
    for (; r + DOT_ROWS <= rows; r += DOT_ROWS) {
        int64_t t = 0;
        for (; t + DOT_TOKENS <= tokens; t += DOT_TOKENS) {
            dot_tile(reading, o, r, DOT_ROWS, t, DOT_TOKENS, fetches);
        }
        if (DOT_TOKENS > 2 && t + 2 <= tokens) {
            dot_tile(reading, o, r, DOT_ROWS, t, 2, fetches);
            t += 2;
        }
        if (t < tokens) {
            dot_tile(reading, o, r, DOT_ROWS, t, 1, fetches);
        }
    }
    for (; r < rows; r++) {
        for (int64_t t = 0; t < tokens; t++) {
            dot_tile(reading, o, r, 1, t, 1, fetches);
        }
    }
}

INLINE void dot_reading(const int32_t reading, const struct dot_operands *o, int64_t rows, int64_t tokens) {
    if (o->next != NULL) {
        dot_rows(reading, o, rows, tokens, 1);
    } else {
        dot_rows(reading, o, rows, tokens, 0);
    }
}

static void dot(int32_t reading, const void *w, int64_t w_stride, int64_t rows, int64_t columns, const float *x,
                int64_t x_stride, int64_t tokens, float *y, int64_t y_stride, const void *next) {
    struct dot_operands o = {
        (const char *)w, w_stride * graft_reading_size(reading), columns, x, x_stride, y, y_stride, (const char *)next};
    switch (reading) {
    case GRAFT_READ_F32:
        dot_reading(GRAFT_READ_F32, &o, rows, tokens);
        break;
    case GRAFT_READ_F16:
        dot_reading(GRAFT_READ_F16, &o, rows, tokens);
        break;
    case GRAFT_READ_BF16:
        dot_reading(GRAFT_READ_BF16, &o, rows, tokens);
        break;
    case GRAFT_READ_F32_AS_BF16:
        dot_reading(GRAFT_READ_F32_AS_BF16, &o, rows, tokens);
        break;
    case GRAFT_READ_F16_AS_BF16:
        dot_reading(GRAFT_READ_F16_AS_BF16, &o, rows, tokens);
        break;
    default:
        graft_loops_scalar.dot(reading, w, w_stride, rows, columns, x, x_stride, tokens, y, y_stride, next);
        break;
    }
}

enum { PACK_COLUMNS = 32 }; /* a cache line of the narrowest type */

/* Widens a cache line of each of VF_WIDTH rows before any is transposed: rows often are a multiple of 4096 bytes apart,
 * so that their lines displace each other in the first-level cache. Rows from `rows` on are zeros. */
INLINE void pack_read(const int32_t reading, const char *w, int64_t w_bytes, int64_t rows, int64_t k, int64_t columns,
                      float lines[VF_WIDTH][PACK_COLUMNS]) {
    for (int i = 0; i < VF_WIDTH; i++) {
        for (int j = 0; j < PACK_COLUMNS; j += VF_WIDTH) {
            vf numbers = vf_zero();
            if (i < rows && columns - j >= VF_WIDTH) {
                numbers = vf_read(reading, w + i * w_bytes, k + j);
            } else if (i < rows && columns > j) {
                numbers = vf_read_part(reading, w + i * w_bytes, k + j, columns - j);
            }
            vf_store(&lines[i][j], numbers);
        }
    }
}

/* Writes a square of VF_WIDTH columns; rows of `out` have MULTIPLY_VECTORS * VF_WIDTH elements. */
INLINE void pack_write(float lines[VF_WIDTH][PACK_COLUMNS], int64_t columns, float *out) {
    vf square[VF_WIDTH];
    for (int j = 0; j < PACK_COLUMNS && j < columns; j += VF_WIDTH) {
        for (int i = 0; i < VF_WIDTH; i++) {
            square[i] = vf_load(&lines[i][j]);
        }
        vf_transpose(square);
        for (int i = 0; i < VF_WIDTH && i + j < columns; i++) {
            vf_store(out + (i + j) * MULTIPLY_VECTORS * VF_WIDTH, square[i]);
        }
    }
}

/* Packs rows. Meanwhile the next ones are prefetched: the rows below or, for the last rows, the next columns of the
 * first rows. */
INLINE void pack_rows(const int32_t reading, const char *w, int64_t w_bytes, int64_t rows, int64_t columns,
                      float *out) {
    float lines[VF_WIDTH][PACK_COLUMNS];
    const int64_t size = graft_reading_size(reading);
    for (int64_t r = 0; r < MULTIPLY_VECTORS * VF_WIDTH; r += VF_WIDTH) {
        const char *next = r + VF_WIDTH < rows ? w + (r + VF_WIDTH) * w_bytes : w + columns * size;
        for (int64_t k = 0; k < columns; k += PACK_COLUMNS) {
            for (int i = 0; i < VF_WIDTH; i++) {
                fetch_far(next + i * w_bytes + k * size);
            }
            if (k + PACK_COLUMNS <= columns && r + VF_WIDTH <= rows) {
                pack_read(reading, w + r * w_bytes, w_bytes, VF_WIDTH, k, PACK_COLUMNS, lines);
                pack_write(lines, PACK_COLUMNS, out + k * MULTIPLY_VECTORS * VF_WIDTH + r);
            } else {
                pack_read(reading, w + r * w_bytes, w_bytes, rows - r, k, columns - k, lines);
                pack_write(lines, columns - k, out + k * MULTIPLY_VECTORS * VF_WIDTH + r);
            }
        }
    }
}

static void pack(int32_t reading, const void *w, int64_t w_stride, int64_t rows, int64_t columns, float *out) {
    const char *from = (const char *)w;
    int64_t w_bytes = w_stride * graft_reading_size(reading);
    switch (reading) {
    case GRAFT_READ_F32:
        pack_rows(GRAFT_READ_F32, from, w_bytes, rows, columns, out);
        break;
    case GRAFT_READ_F16:
        pack_rows(GRAFT_READ_F16, from, w_bytes, rows, columns, out);
        break;
    case GRAFT_READ_BF16:
        pack_rows(GRAFT_READ_BF16, from, w_bytes, rows, columns, out);
        break;
    case GRAFT_READ_F32_AS_BF16:
        pack_rows(GRAFT_READ_F32_AS_BF16, from, w_bytes, rows, columns, out);
        break;
    default:
        pack_rows(GRAFT_READ_F16_AS_BF16, from, w_bytes, rows, columns, out);
        break;
    }
}

struct multiply_operands {
    const float *a; /* [rows, depth], a_row and a_step apart */
    int64_t a_row;
    int64_t a_step;
    const void *b; /* [depth, columns] */
    int64_t b_stride;
    int64_t depth;
    float *c; /* [rows, columns] */
    int64_t c_stride;
    const char *next; /* [depth * columns] to prefetch; or NULL */
};

/* Multiplies `rows` rows from row i on by `vectors` vectors of columns from column j on, the last of which has `last`
 * lanes. `next` is prefetched sequentially, tile by tile. */
INLINE void multiply_tile(const int32_t reading, const struct multiply_operands *o, int64_t i, const int rows,
                          int64_t j, const int vectors, const int64_t last, const int fetches) {
    const int64_t size = graft_reading_size(reading);
    const int64_t width = VF_WIDTH * size;
    const char *next = fetches ? o->next + j * o->depth * size : NULL;
    const float *a = o->a + i * o->a_row;
    float *c = o->c + i * o->c_stride + j;
    vf sums[MULTIPLY_ROWS][MULTIPLY_VECTORS];
    vf row[MULTIPLY_VECTORS];
    for (int m = 0; m < rows; m++) {
        for (int n = 0; n < vectors; n++) {
            sums[m][n] = vf_zero();
        }
    }
    for (int64_t k = 0; k < o->depth; k++) {
        for (int n = 0; n < vectors; n++) {
            const int64_t from = k * o->b_stride + j + n * VF_WIDTH;
            if (fetches && n * width % 64 == 0) {
                fetch_near(next + (k * vectors + n) * width);
            }
            row[n] = n + 1 < vectors || last == VF_WIDTH ? vf_read(reading, o->b, from)
                                                         : vf_read_part(reading, o->b, from, last);
        }
        for (int m = 0; m < rows; m++) {
            vf factor = vf_set(a[m * o->a_row + k * o->a_step]);
            for (int n = 0; n < vectors; n++) {
                sums[m][n] = vf_fma(factor, row[n], sums[m][n]);
            }
        }
    }
    for (int m = 0; m < rows; m++) {
        for (int n = 0; n < vectors; n++) {
            float *to = c + m * o->c_stride + n * VF_WIDTH;
            if (n + 1 < vectors || last == VF_WIDTH) {
                vf_store(to, vf_add(vf_load(to), sums[m][n]));
            } else {
                vf_store_part(to, vf_add(vf_load_part(to, last), sums[m][n]), last);
            }
        }
    }
}

/* Multiplies all rows by the columns of one tile. */
INLINE void multiply_columns(const int32_t reading, const struct multiply_operands *o, int64_t rows, int64_t j,
                             const int vectors, const int64_t last, const int fetches) {
    int64_t i = 0;
    for (; i + MULTIPLY_ROWS <= rows; i += MULTIPLY_ROWS) {
        multiply_tile(reading, o, i, MULTIPLY_ROWS, j, vectors, last, fetches);
    }
    if (i + 4 <= rows) {
        multiply_tile(reading, o, i, 4, j, vectors, last, fetches);
        i += 4;
    }
    if (i + 2 <= rows) {
        multiply_tile(reading, o, i, 2, j, vectors, last, fetches);
        i += 2;
    }
    if (i < rows) {
        multiply_tile(reading, o, i, 1, j, vectors, last, fetches);
    }
}

INLINE void multiply_rows(const int32_t reading, const struct multiply_operands *o, int64_t rows, int64_t columns,
                          const int fetches) {
    int64_t j = 0;
    for (; j + MULTIPLY_VECTORS * VF_WIDTH <= columns; j += MULTIPLY_VECTORS * VF_WIDTH) {
        multiply_columns(reading, o, rows, j, MULTIPLY_VECTORS, VF_WIDTH, fetches);
    }
    for (; j + VF_WIDTH <= columns; j += VF_WIDTH) {
        multiply_columns(reading, o, rows, j, 1, VF_WIDTH, fetches);
    }
    if (j < columns) {
        multiply_columns(reading, o, rows, j, 1, columns - j, fetches);
    }
}

INLINE void multiply_reading(const int32_t reading, const struct multiply_operands *o, int64_t rows, int64_t columns) {
    if (o->next != NULL) {
        multiply_rows(reading, o, rows, columns, 1);
    } else {
        multiply_rows(reading, o, rows, columns, 0);
    }
}

static void multiply(const float *a, int64_t a_row, int64_t a_step, int64_t rows, int32_t reading, const void *b,
                     int64_t b_stride, int64_t depth, int64_t columns, float *c, int64_t c_stride, const void *next) {
    struct multiply_operands o = {a, a_row, a_step, b, b_stride, depth, c, c_stride, (const char *)next};
    switch (reading) {
    case GRAFT_READ_F32:
        multiply_reading(GRAFT_READ_F32, &o, rows, columns);
        break;
    case GRAFT_READ_F16:
        multiply_reading(GRAFT_READ_F16, &o, rows, columns);
        break;
    default:
        multiply_reading(GRAFT_READ_BF16, &o, rows, columns);
        break;
    }
}

#endif

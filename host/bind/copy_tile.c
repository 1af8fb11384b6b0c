/* SPDX-License-Identifier: Apache-2.0 */
/* Whole tiles of 2 and 4 byte elements are transposed in words of 8 bytes, which takes a few shifts for 16 or 4
 * elements, and assembled in a buffer: in matrices whose rows are a power of two apart, lines written in pieces would
 * evict each other from the cache. */
#include "bind/copy_tile.h"

#include <string.h>

static uint64_t word_at(const char *from) {
    uint64_t word;
    memcpy(&word, from, sizeof word);
    return word;
}

static const uint64_t even_halves = 0x0000ffff0000ffffU, low_word = 0xffffffffU;

/* Transposes 4 rows of 4 elements: neighbours are exchanged, then pairs of neighbours. */
static void turn_words_2(const char *from, int64_t step, char *to, int64_t to_step) {
    uint64_t a = word_at(from), b = word_at(from + step), c = word_at(from + 2 * step), d = word_at(from + 3 * step);
    uint64_t ab0 = (a & even_halves) | (b & even_halves) << 16, ab1 = (a >> 16 & even_halves) | (b & ~even_halves);
    uint64_t cd0 = (c & even_halves) | (d & even_halves) << 16, cd1 = (c >> 16 & even_halves) | (d & ~even_halves);
    const uint64_t transposed[] = {(ab0 & low_word) | cd0 << 32, (ab1 & low_word) | cd1 << 32,
                                   ab0 >> 32 | (cd0 & ~low_word), ab1 >> 32 | (cd1 & ~low_word)};
    for (int i = 0; i < 4; i++) {
        memcpy(to + i * to_step, &transposed[i], sizeof transposed[i]);
    }
}

/* Transposes 2 rows of 2 elements. */
static void turn_words_4(const char *from, int64_t step, char *to, int64_t to_step) {
    uint64_t a = word_at(from), b = word_at(from + step);
    const uint64_t transposed[] = {(a & low_word) | b << 32, a >> 32 | (b & ~low_word)};
    memcpy(to, &transposed[0], sizeof transposed[0]);
    memcpy(to + to_step, &transposed[1], sizeof transposed[1]);
}

typedef void (*word_turner)(const char *from, int64_t step, char *to, int64_t to_step);

/* Transposes a whole tile in words of `n` rows each. `next` is the start of the next tile, which is prefetched, as its
 * lines are too far apart for the processor to predict. */
static inline void turn_tile(word_turner turn, int n, const char *from, const char *next, int64_t from_step, char *to,
                             int64_t to_step) {
    enum { WORD = 8 };
    _Alignas(TILE_BYTES) char lines[TILE_BYTES / 2 * TILE_BYTES];
    int side = TILE_BYTES * n / WORD;
    for (int c = 0; c < side; c += n) {
        for (int i = 0; i < n; i++) {
            __builtin_prefetch(next + (c + i) * from_step);
        }
        for (int r = 0; r < side; r += n) {
            turn(from + c * from_step + r * (WORD / n), from_step, lines + r * TILE_BYTES + c * (WORD / n), TILE_BYTES);
        }
    }
    for (int r = 0; r < side; r++) {
        memcpy(to + r * to_step, lines + r * TILE_BYTES, TILE_BYTES);
    }
}

static void copy_elements_of(int64_t size, int64_t rows, int64_t columns, const char *from, int64_t from_step, char *to,
                             int64_t to_step) {
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t c = 0; c < columns; c++) {
            memcpy(to + r * to_step + c * size, from + c * from_step + r * size, (size_t)size);
        }
    }
}

void graft_copy_tile(int64_t size, int64_t rows, int64_t columns, const char *from, const char *next, int64_t from_step,
                     char *to, int64_t to_step) {
    int whole = rows * size == TILE_BYTES && columns * size == TILE_BYTES;
    if (whole && size == 2) {
        turn_tile(turn_words_2, 4, from, next, from_step, to, to_step);
    } else if (whole && size == 4) {
        turn_tile(turn_words_4, 2, from, next, from_step, to, to_step);
    } else {
        copy_elements_of(size, rows, columns, from, from_step, to, to_step);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Rearranges codes once, when a weight is made. Codes in words along columns (GPTQ), in words along rows (AWQ) or in
 * strips (HQQ, Quanto) become rows, or rows abreast (abreast.h), because these are read in long streams and multiply
 * few tokens faster. Scales and zero points are rearranged with them. Threads move squares of words that fit the cache.
 */
#define _DEFAULT_SOURCE /* for madvise */
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/dtype.h"
#include "base/fail.h"
#include "kernels/coded/weight.h"
#include "kernels/threads.h"

enum {
    ALIGNMENT = 64, /* of arranged memory: a cache line */
    BIG_PAGE = 1 << 21,
    STRIP = 64,  /* the fewest rows for a thread */
    SQUARE = 16, /* words that are moved together: a cache line */
    BAND = 32,   /* the fewest words along rows for a thread */
    AHEAD = 16,  /* how many columns ahead words are prefetched: each column lies in another page */
    NIBBLES = 8  /* codes of 4 bits in a word */
};

/* The data of the parallel loops' bodies. */
struct arranging {
    const struct graft_codec *codec;
    int64_t groups;
    const uint32_t *from;
    uint32_t *to;     /* [rows, to_words] */
    int64_t to_words; /* words in a row */
    int32_t to_bits;  /* bits of an arranged code */
    int64_t abreast;  /* rows that lie abreast after arranging; 0: rows lie one after another */
    int64_t stored;   /* rows in memory, with those that fill the last vector abreast */
    void *zeros;      /* [words along rows, groups]; abreast [groups, stored], bytes; NULL: none */
    void *scales;     /* [rows, groups]; abreast [groups, stored] */
};

/* Where a word of a row comes to lie. */
static uint32_t *word_at(const struct arranging *arranging, int64_t row, int64_t word) {
    const int64_t abreast = arranging->abreast, words = arranging->to_words;
    return arranging->to +
           (abreast == 0 ? row * words + word : (row / abreast * words + word) * abreast + row % abreast);
}

/* --- Zero points and scales --- */

/* Code `i` of a stream of words that are `stride` words apart. */
static uint32_t code_at(const uint32_t *words, int64_t stride, int32_t bits, int64_t i) {
    const int64_t first = i * bits, word = first / 32;
    const int32_t shift = (int32_t)(first % 32);
    uint64_t pair = words[word * stride];
    if (shift + bits > 32) {
        pair |= (uint64_t)words[(word + 1) * stride] << 32;
    }
    return (uint32_t)(pair >> shift) & ((1U << bits) - 1);
}

/* Where AWQ stores row k's code in a word of eight rows. */
static int64_t place_of(int64_t k) {
    return k / 2 + k % 2 * 4;
}

/* Returns a word of eight rows with its codes in the order of the rows. */
static uint32_t in_order(uint32_t word) {
    uint32_t ordered = 0;
    for (int k = 0; k < NIBBLES; k++) {
        ordered |= (word >> 4 * place_of(k) & 15) << 4 * k;
    }
    return ordered;
}

/* Copies zero points of the same size, with the codes of each word put in order: words [begin, end) along rows. */
static void arrange_zero_words(const struct arranging *arranging, int64_t begin, int64_t end) {
    const struct graft_codec *codec = arranging->codec;
    const uint32_t *from = graft_weight_block(codec->zeros, 0)->data;
    const int64_t words = (codec->rows * codec->bits + 31) / 32, groups = arranging->groups;
    for (int64_t w = begin; w < end; w++) {
        for (int64_t g = 0; g < groups; g++) {
            const uint32_t word = from[g * words + w];
            ((uint32_t *)arranging->zeros)[w * groups + g] =
                codec->layout == GRAFT_CODED_ROW_WORDS ? in_order(word) : word;
        }
    }
}

/* Widens zero points of another size, for rows [begin, end), which fill whole words. */
static void widen_zeros(const struct arranging *arranging, int64_t begin, int64_t end) {
    const struct graft_codec *codec = arranging->codec;
    const uint32_t *from = graft_weight_block(codec->zeros, 0)->data;
    const int64_t words = (codec->rows * codec->bits + 31) / 32, slots = 32 / arranging->to_bits;
    for (int64_t g = 0; g < arranging->groups; g++) {
        for (int64_t r = begin; r < end; r++) {
            const uint32_t code = code_at(from + g * words, 1, codec->bits, r);
            uint32_t *to = &((uint32_t *)arranging->zeros)[r / slots * arranging->groups + g];
            *to = code << r % slots * arranging->to_bits | (r % slots == 0 ? 0 : *to);
        }
    }
}

/* Transposes scales [groups, rows], for rows [begin, end). */
static void arrange_scales(const struct arranging *arranging, int64_t begin, int64_t end) {
    const struct graft_row_block *block = graft_weight_block(arranging->codec->scales, 0);
    const int64_t groups = arranging->groups, rows = arranging->codec->rows;
    const int is_half = graft_dtype_size(block->dtype) == 2;
    for (int64_t g = 0; g < groups; g++) {
        for (int64_t r = begin; r < end; r++) {
            if (is_half) {
                ((uint16_t *)arranging->scales)[r * groups + g] = ((const uint16_t *)block->data)[g * rows + r];
            } else {
                ((uint32_t *)arranging->scales)[r * groups + g] = ((const uint32_t *)block->data)[g * rows + r];
            }
        }
    }
}

/* Copies scales and zero points of rows [begin, end) that will lie abreast, which is the file's order. */
static void copy_groups(const struct arranging *arranging, int64_t begin, int64_t end) {
    const struct graft_codec *codec = arranging->codec;
    const struct graft_row_block *scales = graft_weight_block(codec->scales, 0);
    const int64_t size = graft_dtype_size(scales->dtype), words = (codec->rows * codec->bits + 31) / 32;
    for (int64_t g = 0; g < arranging->groups; g++) {
        memcpy((char *)arranging->scales + (g * arranging->stored + begin) * size,
               (const char *)scales->data + (g * codec->rows + begin) * size, (size_t)((end - begin) * size));
        for (int64_t r = begin; arranging->zeros != NULL && r < end; r++) {
            const uint32_t *from = (const uint32_t *)graft_weight_block(codec->zeros, 0)->data + g * words;
            const int64_t at = codec->layout == GRAFT_CODED_ROW_WORDS ? r - r % NIBBLES + place_of(r % NIBBLES) : r;
            const int32_t zero = (int32_t)code_at(from, 1, codec->bits, at) + codec->zero;
            ((int8_t *)arranging->zeros)[g * arranging->stored + r] = (int8_t)zero;
        }
    }
}

/* Rearranges scales and zero points of one thread's rows. */
static void arrange_groups(const struct arranging *arranging, int64_t begin, int64_t end) {
    const int64_t slots = 32 / arranging->to_bits;
    if (arranging->abreast > 0) {
        copy_groups(arranging, begin, end);
        return;
    }
    arrange_scales(arranging, begin, end);
    if (arranging->zeros != NULL && arranging->to_bits == arranging->codec->bits) {
        arrange_zero_words(arranging, begin / slots, (end + slots - 1) / slots);
    } else if (arranging->zeros != NULL) {
        widen_zeros(arranging, begin, end);
    }
}

/* --- Words along columns --- */

/* to [rows, words] = transpose of from [words, rows], for rows [begin, end). */
static void transpose_words(const uint32_t *from, int64_t rows, int64_t words, int64_t begin, int64_t end,
                            uint32_t *to) {
    for (int64_t w = 0; w < words; w += SQUARE) {
        const int64_t last = words - w < SQUARE ? words : w + SQUARE;
        for (int64_t r = begin; r < end; r++) {
            for (int64_t k = w; k < last; k++) {
                to[r * words + k] = from[k * rows + r];
            }
        }
    }
}

/* Rows [begin, end) abreast: words keep their order within each few rows. */
static void copy_words(const struct arranging *arranging, int64_t begin, int64_t end) {
    const int64_t rows = arranging->codec->rows, abreast = arranging->abreast;
    for (int64_t r = begin; r < end; r += abreast) {
        const int64_t n = end - r < abreast ? end - r : abreast;
        for (int64_t w = 0; w < arranging->to_words; w++) {
            memcpy(word_at(arranging, r, w), arranging->from + w * rows + r, (size_t)n * sizeof(uint32_t));
        }
    }
}

static void arrange_columns(void *data, int64_t begin, int64_t end) {
    const struct arranging *arranging = data;
    const struct graft_codec *codec = arranging->codec;
    const int64_t rows = codec->rows, slots = 32 / arranging->to_bits;
    const int64_t first = begin * STRIP, last = end * STRIP < rows ? end * STRIP : rows;
    arrange_groups(arranging, first, last);
    if (arranging->to_bits == codec->bits && arranging->abreast > 0) {
        copy_words(arranging, first, last);
        return;
    }
    if (arranging->to_bits == codec->bits) {
        transpose_words(arranging->from, rows, arranging->to_words, first, last, arranging->to);
        return;
    }
    for (int64_t r = first; r < last; r++) {
        for (int64_t i = 0; i < codec->columns; i++) {
            uint32_t *to = word_at(arranging, r, i / slots);
            const uint32_t code = code_at(arranging->from + r, rows, codec->bits, i);
            *to = (i % slots == 0 ? 0 : *to) | code << i % slots * arranging->to_bits;
        }
    }
}

/* --- Words along rows, of 4 bits --- */

/* Transposes adjacent squares of 8 x 8 codes: code i of word k becomes code k of word i. */
static void turn_squares(uint32_t words[NIBBLES][SQUARE]) {
    static const uint32_t masks[] = {0x0000ffffU, 0x00ff00ffU, 0x0f0f0f0fU};
    for (int round = 0, apart = 4; apart > 0; round++, apart /= 2) {
        const uint32_t mask = masks[round];
        for (int k = 0; k < NIBBLES; k++) {
            for (int i = 0; (k & apart) == 0 && i < SQUARE; i++) {
                const uint32_t a = words[k][i], b = words[k + apart][i];
                words[k][i] = (a & mask) | (b & mask) << 4 * apart;
                words[k + apart][i] = (a >> 4 * apart & mask) | (b & ~mask);
            }
        }
    }
}

/* Reads n words along rows, from `first` on, of each of eight columns; zeros where there is no column. Whole squares
 * are copied in lines of constant size, which compilers do with vectors. */
static void read_square(const struct arranging *arranging, int64_t column, int64_t first, int64_t n,
                        uint32_t words[NIBBLES][SQUARE]) {
    const int64_t across = arranging->codec->rows / NIBBLES;
    const int64_t columns = graft_coded_left(arranging->codec->columns, column, NIBBLES);
    const uint32_t *from = arranging->from + column * across + first;
    if (n == SQUARE && columns == NIBBLES) {
        for (int k = 0; k < NIBBLES; k++) {
            const uint32_t *line = from + k * across;
            memcpy(words[k], line, SQUARE * sizeof words[k][0]);
            __builtin_prefetch((const void *)((uintptr_t)line + (uintptr_t)(AHEAD * across) * sizeof *line));
        }
        return;
    }
    memset(words, 0, NIBBLES * sizeof *words);
    for (int64_t k = 0; k < columns; k++) {
        memcpy(words[k], from + k * across, (size_t)n * sizeof words[k][0]);
    }
}

/* Rearranges eight columns, which become one word of each row: n words along rows from `first` on. */
static void arrange_word(const struct arranging *arranging, int64_t word, int64_t first, int64_t n) {
    const int64_t abreast = arranging->abreast;
    const int64_t side = abreast == 0 ? 1 : abreast < NIBBLES ? abreast : NIBBLES; /* rows that lie side by side */
    uint32_t words[NIBBLES][SQUARE];
    for (int64_t at = 0; at < n; at += SQUARE) {
        const int64_t some = graft_coded_left(n, at, SQUARE);
        read_square(arranging, word * NIBBLES, first + at, some, words);
        turn_squares(words);
        for (int64_t i = 0; i < some; i++) {
            for (int64_t k = 0; k < NIBBLES; k += side) {
                uint32_t *to = word_at(arranging, (first + at + i) * NIBBLES + k, word);
                for (int64_t r = 0; r < side; r++) {
                    to[r] = words[place_of(k + r)][i];
                }
            }
        }
    }
}

/* A parallel body. An item is BAND words along rows. It goes through all columns, eight at a time, so that only a few
 * cache lines of each column are in use. */
static void arrange_rows(void *data, int64_t begin, int64_t end) {
    const struct arranging *arranging = data;
    const int64_t across = arranging->codec->rows / NIBBLES;
    for (int64_t first = begin * BAND; first < end * BAND && first < across; first += BAND) {
        const int64_t n = graft_coded_left(across, first, BAND);
        arrange_groups(arranging, first * NIBBLES, (first + n) * NIBBLES);
        for (int64_t word = 0; word < arranging->to_words; word++) {
            arrange_word(arranging, word, first, n);
        }
    }
}

/* --- Strips --- */

/* Code `at` of a strip. Several strips share each byte (or word); this one's codes begin at bit `shift`. */
static uint32_t strip_code(const struct arranging *arranging, int64_t at, int32_t shift) {
    const struct graft_codec *codec = arranging->codec;
    const uint32_t number = codec->bits == 3 ? arranging->from[at] : ((const uint8_t *)arranging->from)[at];
    return number >> shift & ((1U << codec->bits) - 1);
}

/* Writes group `group`, counted over the whole weight, to column `column` of a row of bytes. A group of 4-bit codes
 * with an odd size fills the whole row. */
static void arrange_strip_group(const struct arranging *arranging, int64_t group, int64_t column, uint8_t *to) {
    const struct graft_codec *codec = arranging->codec;
    const int64_t strips = graft_coded_strips(codec->bits), size = codec->group_size;
    const int64_t most = (codec->rows * arranging->groups + strips - 1) / strips; /* the most groups in a strip */
    const int64_t strip = group / most, first = group % most * size;
    const int32_t shift = (int32_t)(codec->layout == GRAFT_CODED_STRIPS ? strips - 1 - strip : strip) * codec->bits;
    if (arranging->to_bits == 8) {
        for (int64_t i = 0; i < size; i++) {
            to[column + i] = (uint8_t)strip_code(arranging, first + i, shift);
        }
        return;
    }
    for (int64_t i = 0; i < size; i += 2) {
        const uint32_t upper = i + 1 < size ? strip_code(arranging, first + i + 1, shift) : 0;
        to[(column + i) / 2] = (uint8_t)(strip_code(arranging, first + i, shift) | upper << 4);
    }
}

/* A parallel body. Items are 64 rows. */
static void arrange_strips(void *data, int64_t begin, int64_t end) {
    const struct arranging *arranging = data;
    const struct graft_codec *codec = arranging->codec;
    const int64_t last = end * STRIP < codec->rows ? end * STRIP : codec->rows;
    for (int64_t r = begin * STRIP; r < last; r++) {
        uint32_t *to = arranging->to + r * arranging->to_words;
        to[arranging->to_words - 1] = 0; /* because codes may fill only a part of the last word */
        for (int64_t g = 0; g < arranging->groups; g++) {
            arrange_strip_group(arranging, r * arranging->groups + g, g * codec->group_size, (uint8_t *)to);
        }
    }
}

/* --- All layouts --- */

static void set_weight(struct graft_weight *weight, struct graft_row_block *block, graft_dtype dtype, const void *data,
                       int64_t rows, int64_t columns) {
    *block = (struct graft_row_block){sizeof *block, dtype, data, rows};
    *weight = (struct graft_weight){.struct_size = sizeof *weight,
                                    .rank = 2,
                                    .shape = {rows, columns, 1, 1, 1, 1, 1, 1},
                                    .rows = rows,
                                    .columns = columns,
                                    .blocks = block,
                                    .n_blocks = 1,
                                    .block_stride = sizeof *block};
}

/* Allocates memory; large amounts get huge pages, which the system maps in a fraction of the time. */
static void *room(int64_t bytes) {
    const int is_large = bytes >= BIG_PAGE;
    void *memory = graft_alloc_aligned(is_large ? BIG_PAGE : ALIGNMENT, (size_t)bytes + ALIGNMENT);
#if defined(MADV_HUGEPAGE)
    if (memory != NULL && is_large) {
        (void)madvise(memory, (size_t)bytes, MADV_HUGEPAGE);
    }
#endif
    return memory;
}

static int check_blocks(const struct graft_codec *codec, const char *path, struct graft_error *error) {
    const graft_dtype scale = graft_weight_block(codec->scales, 0)->dtype;
    return codec->codes->n_blocks == 1 && codec->scales->n_blocks == 1 && graft_dtype_size(scale) >= 2
               ? GRAFT_OK
               : graft_error_set(error, GRAFT_ERROR_PLUGIN, path,
                                 "codes in words and their scales: expected one block each, of numbers");
}

/* Zero points abreast that are all the same, as those of symmetric checkpoints, are one number. */
static void join_zero_bytes(const struct arranging *arranging, struct graft_coded *rows) {
    const int8_t *zeros = arranging->zeros;
    int is_one = zeros != NULL;
    for (int64_t g = 0; g < arranging->groups && is_one; g++) {
        for (int64_t r = 0; r < arranging->codec->rows && is_one; r++) {
            is_one = zeros[g * arranging->stored + r] == zeros[0];
        }
    }
    rows->zero = is_one ? zeros[0] : rows->zero;
    rows->zero_bytes = is_one ? NULL : arranging->zeros;
}

/* Makes the memory after the last row zeros, which no result depends on, but how long products take might. */
static void clear_past_end(const struct arranging *arranging, int64_t scale_size) {
    const int64_t rows = arranging->codec->rows, stored = arranging->stored, last = rows - rows % arranging->abreast;
    memset(word_at(arranging, last, 0), 0, (size_t)((stored - last) * arranging->to_words) * sizeof(uint32_t));
    for (int64_t g = 0; g < arranging->groups; g++) {
        memset((char *)arranging->scales + (g * stored + rows) * scale_size, 0, (size_t)((stored - rows) * scale_size));
        if (arranging->zeros != NULL) {
            memset((char *)arranging->zeros + g * stored + rows, 0, (size_t)(stored - rows));
        }
    }
}

/* Allocates what `arranging` arranges into. */
static int make_room(struct graft_coded_weight *weight, struct arranging *arranging, const char *path,
                     struct graft_error *error) {
    const struct graft_codec *codec = arranging->codec;
    const int64_t slots = 32 / arranging->to_bits, groups = arranging->groups, stored = arranging->stored;
    const int64_t scale_size = graft_dtype_size(graft_weight_block(codec->scales, 0)->dtype);
    const int64_t zeros = arranging->abreast > 0 ? stored * groups : (stored + slots - 1) / slots * groups * 4;
    weight->code_memory = room(stored * arranging->to_words * 4);
    weight->scale_memory = room(stored * groups * scale_size);
    weight->zero_memory = codec->zeros != NULL ? room(zeros) : NULL;
    weight->blocks = graft_alloc(2, sizeof *weight->blocks);
    if (weight->blocks == NULL || weight->code_memory == NULL || weight->scale_memory == NULL ||
        (codec->zeros != NULL && weight->zero_memory == NULL)) {
        return graft_fail_memory(error, path);
    }
    arranging->to = weight->code_memory;
    arranging->zeros = weight->zero_memory;
    arranging->scales = weight->scale_memory;
    if (arranging->abreast > 0) {
        clear_past_end(arranging, scale_size);
    }
    return GRAFT_OK;
}

int graft_coded_arrange(struct graft_coded_weight *weight, const char *path, struct graft_error *error) {
    const struct graft_codec *codec = &weight->codec;
    struct graft_coded *rows = &weight->rows;
    const int64_t slots = 32 / rows->bits, abreast = rows->loops->abreast;
    struct arranging arranging = {
        .codec = codec,
        .groups = rows->groups,
        .to_words = (codec->columns + slots - 1) / slots,
        .to_bits = rows->bits,
        .abreast = abreast,
        /* Vectors that begin at any row of the weight end there at the latest. */
        .stored = abreast > 0 ? (codec->rows + abreast - 1) / abreast * abreast + abreast : codec->rows,
    };
    int status = check_blocks(codec, path, error);
    if (status == GRAFT_OK) {
        status = make_room(weight, &arranging, path, error);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    arranging.from = graft_weight_block(codec->codes, 0)->data;
    if (codec->layout == GRAFT_CODED_COLUMN_WORDS) {
        graft_threads_get()->parallel_for((codec->rows + STRIP - 1) / STRIP, 1, arrange_columns, &arranging);
    } else {
        graft_threads_get()->parallel_for((codec->rows / NIBBLES + BAND - 1) / BAND, 1, arrange_rows, &arranging);
    }
    set_weight(&weight->codes, &weight->blocks[0], GRAFT_DTYPE_I32, weight->code_memory, arranging.stored,
               arranging.to_words);
    set_weight(&weight->scales, &weight->blocks[1], graft_weight_block(codec->scales, 0)->dtype, weight->scale_memory,
               abreast > 0 ? rows->groups : codec->rows, abreast > 0 ? arranging.stored : rows->groups);
    rows->row_bytes = arranging.to_words * 4;
    if (abreast > 0) {
        join_zero_bytes(&arranging, rows);
    } else {
        rows->zeros = weight->zero_memory;
    }
    return GRAFT_OK;
}

int graft_coded_arrange_strips(struct graft_coded_weight *weight, struct graft_row_block *block, const char *path,
                               struct graft_error *error) {
    const struct graft_codec *codec = &weight->codec;
    struct graft_coded *rows = &weight->rows;
    const int64_t slots = 32 / rows->bits, to_words = (codec->columns + slots - 1) / slots;
    if (codec->codes->n_blocks != 1) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, path, "codes in strips: expected one block, got %d",
                               (int)codec->codes->n_blocks);
    }
    weight->code_memory = room(codec->rows * to_words * 4);
    if (weight->code_memory == NULL) {
        return graft_fail_memory(error, path);
    }
    struct arranging arranging = {
        .codec = codec,
        .groups = rows->groups,
        .from = graft_weight_block(codec->codes, 0)->data,
        .to = weight->code_memory,
        .to_words = to_words,
        .to_bits = rows->bits,
    };
    graft_threads_get()->parallel_for((codec->rows + STRIP - 1) / STRIP, 1, arrange_strips, &arranging);
    set_weight(&weight->codes, block, GRAFT_DTYPE_I32, weight->code_memory, codec->rows, to_words);
    rows->row_bytes = to_words * 4;
    return GRAFT_OK;
}

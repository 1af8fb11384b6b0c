/* SPDX-License-Identifier: Apache-2.0 */
/* The inner loops, compiled once for each instruction set. */
#include "loops.h"

#include "graft/vectors.h"

/* Rounds by adding and subtracting 1.5 * 2^23, which gives the nearest integer, ties to even, in the default rounding
 * mode. */
static int32_t round_inputs(const float *x, int64_t n, float factor, int8_t *integers) {
    const float shift = 12582912.0F;
    int32_t sum = 0;
    for (int64_t i = 0; i < n; i++) {
        float scaled = x[i] * factor;
        scaled = scaled > 127.0F ? 127.0F : scaled;
        scaled = scaled < -128.0F ? -128.0F : scaled;
        integers[i] = (int8_t)((scaled + shift) - shift);
        sum += integers[i];
    }
    return sum;
}

#if defined(__AVX2__)

typedef graft_vector_ints ints;

/* Rows of codes may begin at any byte. */
typedef graft_vector_words words_at __attribute__((aligned(1), may_alias));

/* Bytes of a vector, tokens whose sums fit the registers, and steps after which 16-bit sums could overflow. */
enum { BYTES = sizeof(ints), SIDE = GRAFT_VECTOR_LANES == 16 ? 4 : 2, STEPS = 8 };

/* A mask for each byte. */
GRAFT_VECTOR_INLINE ints masked(graft_vector_words bytes, uint32_t mask) {
    return (ints)(bytes & mask * 0x01010101U);
}

/* Masks the codes of each output without shifting them: they are 1, 4, 16 and 64 times too large. With 16-bit sums, the
 * last two are shifted, so that they are only 1 and 4 times too large. */
GRAFT_VECTOR_INLINE void take_apart(graft_vector_words bytes, ints parts[BITLINEAR_PARTS]) {
    const int down = GRAFT_VECTOR_VNNI ? 0 : 4;
    const graft_vector_words upper = bytes >> down;
    parts[0] = masked(bytes, 0x03);
    parts[1] = masked(bytes, 0x0c);
    parts[2] = masked(upper, 0x30U >> down);
    parts[3] = masked(upper, 0xc0U >> down);
}

/* sums [n_tokens, BITLINEAR_PARTS] += products of `n` vectors of codes and inputs, with 16-bit partial sums. */
GRAFT_VECTOR_INLINE void add_steps(const uint8_t *codes, const int8_t *x, int64_t stride, int64_t n, const int n_tokens,
                                   ints *sums) {
    for (int64_t i = 0; i < n; i++, codes += BYTES, x += BYTES) {
        ints parts[BITLINEAR_PARTS];
        take_apart(*(const words_at *)codes, parts);
        for (int t = 0; t < n_tokens; t++) {
            const graft_vector_words inputs = *(const words_at *)(x + t * stride);
            for (int k = 0; k < BITLINEAR_PARTS; k++) {
                ints *sum = &sums[t * BITLINEAR_PARTS + k];
                *sum = graft_vector_dot_bytes(*sum, parts[k], (ints)inputs);
            }
        }
    }
}

/* Like add_steps, with 32-bit sums. */
GRAFT_VECTOR_INLINE void add_up(const uint8_t *codes, const int8_t *x, int64_t stride, int64_t n, const int n_tokens,
                                ints *sums) {
#if GRAFT_VECTOR_VNNI
    add_steps(codes, x, stride, n, n_tokens, sums);
#else
    const ints none = {0};
    for (int64_t i = 0; i < n; i += STEPS) {
        ints some[SIDE * BITLINEAR_PARTS];
        for (int s = 0; s < n_tokens * BITLINEAR_PARTS; s++) {
            some[s] = none;
        }
        add_steps(codes + i * BYTES, x + i * BYTES, stride, n - i < STEPS ? n - i : STEPS, n_tokens, some);
        for (int s = 0; s < n_tokens * BITLINEAR_PARTS; s++) {
            sums[s] = graft_vector_dot(sums[s], some[s], none + 0x00010001);
        }
    }
#endif
}

/* Reduces a vector to eight lanes with the same total. */
GRAFT_VECTOR_INLINE __m256i fold(ints sums) {
#if GRAFT_VECTOR_LANES == 16
    return _mm256_add_epi32(_mm512_castsi512_si256((__m512i)sums), _mm512_extracti64x4_epi64((__m512i)sums, 1));
#else
    return (__m256i)sums;
#endif
}

/* Adds up all lanes, undoes the factors 4, 16 and 64, and writes the sums to to[k * rows]. */
GRAFT_VECTOR_INLINE void finish(const ints sums[BITLINEAR_PARTS], int64_t rows, int32_t *to) {
    const int upper = GRAFT_VECTOR_VNNI ? 4 : 0;
    const __m256i lower_pairs = _mm256_hadd_epi32(fold(sums[0]), fold(sums[1]));
    const __m256i fours = _mm256_hadd_epi32(lower_pairs, _mm256_hadd_epi32(fold(sums[2]), fold(sums[3])));
    const __m128i scaled = _mm_add_epi32(_mm256_castsi256_si128(fours), _mm256_extracti128_si256(fours, 1));
    const __m128i all = _mm_srav_epi32(scaled, _mm_setr_epi32(0, 2, upper, upper + 2));
    to[0] = _mm_extract_epi32(all, 0);
    to[rows] = _mm_extract_epi32(all, 1);
    to[2 * rows] = _mm_extract_epi32(all, 2);
    to[3 * rows] = _mm_extract_epi32(all, 3);
}

GRAFT_VECTOR_INLINE void multiply_tokens(const uint8_t *codes, int64_t rows, const struct bitlinear_inputs *inputs,
                                         const int n_tokens, const int8_t *x, int32_t *sums) {
    const int64_t columns = inputs->columns, whole = columns / BYTES, left = columns % BYTES;
    for (int64_t r = 0; r < rows; r++, codes += columns) {
        ints all[SIDE * BITLINEAR_PARTS] = {{0}};
        add_up(codes, x, inputs->stride, whole, n_tokens, all);
        if (left > 0) { /* the file may end right after them, so they are copied */
            uint8_t last[BYTES] = {0};
            memcpy(last, codes + whole * BYTES, (size_t)left);
            add_up(last, x + whole * BYTES, inputs->stride, 1, n_tokens, all);
        }
        for (int t = 0; t < n_tokens; t++) {
            finish(&all[t * BITLINEAR_PARTS], rows, sums + t * BITLINEAR_PARTS * rows + r);
        }
    }
}

static void multiply(const uint8_t *codes, int64_t rows, const struct bitlinear_inputs *inputs, int64_t tokens,
                     int32_t *sums) {
    const int8_t *x = inputs->integers;
    while (tokens > 0) {
        const int64_t n = tokens >= SIDE ? SIDE : tokens >= 2 ? 2 : 1;
        if (n == 1) {
            multiply_tokens(codes, rows, inputs, 1, x, sums);
        } else if (n == 2) {
            multiply_tokens(codes, rows, inputs, 2, x, sums);
        } else {
            multiply_tokens(codes, rows, inputs, SIDE, x, sums);
        }
        tokens -= n;
        x += n * inputs->stride;
        sums += n * BITLINEAR_PARTS * rows;
    }
}

#else

static void multiply(const uint8_t *codes, int64_t rows, const struct bitlinear_inputs *inputs, int64_t tokens,
                     int32_t *sums) {
    for (int64_t t = 0; t < tokens; t++) {
        const int8_t *x = inputs->integers + t * inputs->stride;
        for (int k = 0; k < BITLINEAR_PARTS; k++, sums += rows) {
            for (int64_t r = 0; r < rows; r++) {
                const uint8_t *row = codes + r * inputs->columns;
                int32_t sum = 0;
                for (int64_t i = 0; i < inputs->columns; i++) {
                    sum += (row[i] >> 2 * k & 3) * x[i];
                }
                sums[r] = sum;
            }
        }
    }
}

#endif

const struct bitlinear_loops GRAFT_ISA_ALL_NAME(bitlinear_loops) = {graft_vector_largest, round_inputs, multiply};

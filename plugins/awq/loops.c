/* SPDX-License-Identifier: Apache-2.0 */
/* How AWQ (version gemm) lays codes in words: of weights and zero points alike along outputs, out of order. One build
 * of it for each instruction set. */
#include "loops.h"

#define GRAFT_PACKED_MOST_BITS 4
#include "graft/packed_loops.h"

/* Rows of words are fetched AHEAD rows before they are read. One step is added at a time: rows often lie 4096 bytes
 * apart, in the same set of the first-level cache, which has room for those of one. */
enum { SLOTS = 8, AHEAD = 2 * SLOTS, STEPS = 1 };

/* The words of a tile in one row: half a vector. */
GRAFT_PACKED_INLINE graft_packed_half_words load(const int32_t *from, int64_t n) {
    graft_packed_half_words words = {0};
    memcpy(&words, from, n == GRAFT_PACKED_TILE ? sizeof words : (size_t)(n / SLOTS) * sizeof *from);
    return words;
}

/* Rows `i` and `i + apart`, one behind the other, while later ones are fetched. */
GRAFT_PACKED_INLINE graft_packed_words load_two(const int32_t *rows, int64_t stride, int i, int apart, int64_t n) {
    __builtin_prefetch((const void *)((uintptr_t)(rows + (i + AHEAD) * stride)), 0, 2);
    __builtin_prefetch((const void *)((uintptr_t)(rows + (i + apart + AHEAD) * stride)), 0, 2);
    return GRAFT_PACKED_JOIN(load(rows + i * stride, n), load(rows + (i + apart) * stride, n));
}

/* qweight [in, out / 8]: the words of eight inputs are squares of eight by eight codes, to be turned. */
#if defined(__AVX512VBMI__)

/*
 * Codes of an even input and the next become bytes, of slots 0, 2, 4, 6 and of 1, 3, 5, 7; then bytes are looked up.
 * Byte b of an output's word has inputs 2 b and 2 b + 1, and lies in row b of what there is of its slot.
 */
GRAFT_PACKED_INLINE void turn(const int32_t *rows, int64_t stride, int64_t n,
                              graft_packed_words words[GRAFT_PACKED_VECTORS]) {
    /* Outputs 0, 4, 1, 5 have slots 0, 2, 4, 6, and outputs 2, 6, 3, 7 slots 1, 3, 5, 7. */
    const graft_packed_words bytes = {0, 2, 0, 2, 1, 3, 1, 3, 4, 6, 4, 6, 5, 7, 5, 7};
    const __m512i lower = _mm512_set1_epi8(15);
    __m512i even[2], odd[2];
    for (int i = 0; i < 2; i++) {
        const __m512i a = (__m512i)load_two(rows, stride, 4 * i, 2, n);
        const __m512i b = (__m512i)load_two(rows, stride, 4 * i + 1, 2, n);
        even[i] = _mm512_or_si512(_mm512_and_si512(a, lower), _mm512_andnot_si512(lower, _mm512_slli_epi32(b, 4)));
        odd[i] = _mm512_or_si512(_mm512_and_si512(_mm512_srli_epi32(a, 4), lower), _mm512_andnot_si512(lower, b));
    }
    for (int v = 0; v < GRAFT_PACKED_VECTORS; v++) {
        const __m512i at = (__m512i)((bytes + 8U * (unsigned)v) * 0x01010101 + 0x60402000);
        words[v] = (graft_packed_words)_mm512_mask_blend_epi32(0xcccc, _mm512_permutex2var_epi8(even[0], at, even[1]),
                                                               _mm512_permutex2var_epi8(odd[0], at, odd[1]));
    }
}

#else

/* Fields of `width` bits change places between two words: the upper ones of `a` with the lower ones of `b`; `lower` has
 * the bits of the lower ones. */
GRAFT_PACKED_INLINE void exchange(graft_packed_words *a, graft_packed_words *b, const int width, const uint32_t lower) {
    graft_packed_words first = (*a & lower) | (*b << width & ~lower);
    *b = (*a >> width & lower) | (*b & ~lower);
    *a = first;
}

/*
 * Three rounds exchange fields of 4, 8 and 16 bits between inputs 1, 2 and 4 apart. A vector has inputs i and i + 4,
 * and after two rounds slots i and i + 4, which are outputs that follow each other.
 */
GRAFT_PACKED_INLINE void turn(const int32_t *rows, int64_t stride, int64_t n,
                              graft_packed_words words[GRAFT_PACKED_VECTORS]) {
    for (int i = 0; i < GRAFT_PACKED_VECTORS; i++) {
        words[i] = load_two(rows, stride, i, 4, n);
    }
    exchange(&words[0], &words[1], 4, 0x0f0f0f0f);
    exchange(&words[2], &words[3], 4, 0x0f0f0f0f);
    exchange(&words[0], &words[2], 8, 0x00ff00ff);
    exchange(&words[1], &words[3], 8, 0x00ff00ff);
    graft_packed_interleave(words, GRAFT_PACKED_VECTORS);
    graft_packed_interleave(words, GRAFT_PACKED_VECTORS);
    exchange(&words[0], &words[2], 16, 0x0000ffff);
    exchange(&words[1], &words[3], 16, 0x0000ffff);
    graft_packed_interleave(words, GRAFT_PACKED_VECTORS);
}

#endif

GRAFT_PACKED_INLINE void unpack(const struct graft_packed *self, int64_t step, int64_t first, int64_t n,
                                graft_packed_words words[GRAFT_PACKED_VECTORS]) {
    const int64_t stride = self->out_features / SLOTS;
    turn(self->words + step * SLOTS * stride + first / SLOTS, stride, n, words);
}

GRAFT_PACKED_INLINE void unpack_zeros(const struct graft_packed *self, int64_t group, int64_t first, int64_t n,
                                      graft_packed_words codes[GRAFT_PACKED_VECTORS]) {
    /* Slots hold outputs 0, 2, 4, 6, 1, 3, 5, 7. */
    static const uint32_t shifts[] = {0, 16, 4, 20, 8, 24, 12, 28, 0, 16, 4, 20, 8, 24, 12, 28};
    graft_packed_across(self->zeros + (group * self->out_features + first) / SLOTS, 4, shifts, n, codes);
}

#if defined(__AVX512BF16__) && defined(__AVX512VBMI__)

/* The words of a tile in a row, twice, while later ones are fetched. */
GRAFT_PACKED_INLINE __m512i load_twice(const int32_t *row, int64_t stride, int64_t n) {
    __builtin_prefetch((const void *)((uintptr_t)(row + AHEAD * stride)), 0, 2);
    return _mm512_broadcast_i64x4((__m256i)load(row, n));
}

/*
 * Two rows as they are: the codes of an output become a byte, that of input k in its lower half. Bytes of even slots
 * come first, then those of odd ones. A look-up puts the bytes of outputs 2 i and 2 i + 1 of each vector into number i
 * of 64 bits, and shifts of these by any number of bits take the halves apart.
 */
GRAFT_PACKED_INLINE void pairs(const struct graft_packed *self, int64_t step, int k, const uint32_t raised,
                               int64_t first, int64_t n, graft_packed_words numbers[GRAFT_PACKED_VECTORS]) {
    const graft_packed_words places = {0x0a080200, 0x1a181210, 0x2a282220, 0x3a383230, 0x0b090301, 0x1b191311,
                                       0x2b292321, 0x3b393331, 0x0e0c0604, 0x1e1c1614, 0x2e2c2624, 0x3e3c3634,
                                       0x0f0d0705, 0x1f1d1715, 0x2f2d2725, 0x3f3d3735};
    const __m512i odd = _mm512_setr_epi32(0, 0, 0, 0, 0, 0, 0, 0, 4, 4, 4, 4, 4, 4, 4, 4);
    const __m512i even = _mm512_xor_si512(odd, _mm512_set1_epi32(4)), lower = _mm512_set1_epi8(15);
    const __m512i codes = _mm512_set1_epi32(0x000f000f), above = _mm512_set1_epi32((int)raised);
    const int64_t stride = self->out_features / SLOTS;
    const int32_t *row = self->words + (step * SLOTS + k) * stride + first / SLOTS;
    const __m512i one = _mm512_srlv_epi32(load_twice(row, stride, n), odd);
    const __m512i other = _mm512_sllv_epi32(load_twice(row + SLOTS / 2 * stride, stride, n), even);
    const __m512i bytes = _mm512_permutexvar_epi8((__m512i)places, _mm512_ternarylogic_epi32(lower, one, other, 0xca));
    for (int v = 0; v < GRAFT_PACKED_VECTORS; v++) {
        const __m512i shifts = _mm512_set1_epi64(0x000c000800040000 + 0x0010001000100010 * (int64_t)v);
        const __m512i halves = _mm512_multishift_epi64_epi8(shifts, bytes);
        numbers[v] = (graft_packed_words)_mm512_ternarylogic_epi32(halves, codes, above, 0xea);
    }
}

#else
#define pairs NULL
#endif

#if defined(__AVX2__) && !defined(__AVX512BF16__)
#include "one.h"
#else
#define one NULL
#endif

GRAFT_PACKED_LOOPS(awq, unpack, unpack_zeros, STEPS, pairs, one);

/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/peak_bf16.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <stdalign.h>

#include "kernels/tile_ops.h"

__attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16"))) int64_t graft_peak_bf16(int64_t rounds,
                                                                                                 float *sink) {
    enum { SUMS = 12, PRODUCTS = 32 };
    const __m512bh zeros = (__m512bh)_mm512_setzero_ps();
    __m512 sums[SUMS];
    for (int i = 0; i < SUMS; i++) {
        sums[i] = _mm512_set1_ps(*sink);
    }
    for (int64_t round = 0; round < rounds; round++) {
        for (int i = 0; i < SUMS; i++) {
            sums[i] = _mm512_dpbf16_ps(sums[i], zeros, zeros);
        }
    }
    for (int i = 1; i < SUMS; i++) {
        sums[0] = _mm512_add_ps(sums[0], sums[i]);
    }
    *sink = _mm512_reduce_add_ps(sums[0]);
    return rounds * SUMS * PRODUCTS;
}

enum { LINE = 64, TILE_NUMBERS = 16 * 32 };

/* Fills in numbers of both signs from 0.008 to 2 with many significant bits. Tiles of zeros take so little power that
 * the processor would run at a higher clock than it does for any model. */
static void fill(uint16_t numbers[TILE_NUMBERS]) {
    const unsigned smallest = 0x3c00;
    for (unsigned i = 0; i < TILE_NUMBERS; i++) {
        numbers[i] = (uint16_t)(smallest + i * 7919u % 1021u + (i % 2u << 15));
    }
}

/* A round has 32 products for each of four sums of 16 x 16. */
__attribute__((target("amx-tile,amx-bf16"))) int64_t graft_peak_tiles(int64_t rounds, float *sink) {
    alignas(LINE) uint16_t numbers[TILE_NUMBERS];
    (void)sink;
    fill(numbers);
    tile_configure(&tiles_whole);
    tile_zero(0);
    tile_zero(1);
    tile_zero(2);
    tile_zero(3);
    tile_load(4, numbers, LINE);
    tile_load(5, numbers, LINE);
    for (int64_t round = 0; round < rounds; round++) {
        tile_multiply(0, 4, 5);
        tile_multiply(1, 4, 5);
        tile_multiply(2, 4, 5);
        tile_multiply(3, 4, 5);
    }
    tile_release();
    return rounds * 4 * 16 * 16 * 32;
}

#else

int64_t graft_peak_bf16(int64_t rounds, float *sink) {
    (void)rounds;
    (void)sink;
    return 0;
}

int64_t graft_peak_tiles(int64_t rounds, float *sink) {
    (void)rounds;
    (void)sink;
    return 0;
}

#endif

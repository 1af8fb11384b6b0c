/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* syscall */
#include "kernels/peak_bf16.h"

#if defined(__x86_64__) && defined(__linux__)

#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

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

enum { REQUEST_PERMISSION = 0x1023, TILE_DATA = 18 }; /* of arch_prctl; the kernel's number for tiles */

int graft_peak_has_tiles(void) {
    unsigned eax, ebx, ecx, edx;
    const unsigned wanted = 1u << 22 | 1u << 24; /* AMX-BF16, AMX-TILE */
    return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 && (edx & wanted) == wanted &&
           syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) == 0;
}

/* Four sums of 16 x 16 take 32 products each. */
__attribute__((target("amx-tile,amx-bf16"))) int64_t graft_peak_tiles(int64_t rounds, float *sink) {
    struct {
        uint8_t palette;
        uint8_t start_row;
        uint8_t reserved[14];
        uint16_t columns[16]; /* bytes */
        uint8_t rows[16];
    } config = {.palette = 1};
    (void)sink;
    for (int i = 0; i < 8; i++) {
        config.columns[i] = 64;
        config.rows[i] = 16;
    }
    _tile_loadconfig(&config);
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    _tile_zero(4);
    _tile_zero(5);
    for (int64_t round = 0; round < rounds; round++) {
        _tile_dpbf16ps(0, 4, 5);
        _tile_dpbf16ps(1, 4, 5);
        _tile_dpbf16ps(2, 4, 5);
        _tile_dpbf16ps(3, 4, 5);
    }
    _tile_release();
    return rounds * 4 * 16 * 16 * 32;
}

#else

int graft_peak_has_tiles(void) {
    return 0;
}

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

/* SPDX-License-Identifier: Apache-2.0 */
/* Loads stored numbers as vectors. `reading` is a constant after inlining. Included after the header
 * of an instruction set, such as simd_avx2.h. */
#ifndef GRAFT_KERNELS_SIMD_READ_H
#define GRAFT_KERNELS_SIMD_READ_H

#include "kernels/loops.h"

/* Fetches the cache line at an address, which need not be mapped, into the first-level cache. */
INLINE void fetch_near(const void *p) {
    __builtin_prefetch(p, 0, 3);
}

/* Prefetches into the second-level cache. */
INLINE void fetch_far(const void *p) {
    __builtin_prefetch(p, 0, 2);
}

/* Reads a vector of elements from element `i` on. */
INLINE vf vf_read(const int32_t reading, const void *source, int64_t i) {
    switch (reading) {
    case GRAFT_READ_F32:
        return vf_load((const float *)source + i);
    case GRAFT_READ_F16:
        return vf_load_f16((const uint16_t *)source + i);
    case GRAFT_READ_BF16:
        return vf_load_bf16((const uint16_t *)source + i);
    case GRAFT_READ_F32_AS_BF16:
        return vf_round_bf16(vf_load((const float *)source + i));
    default:
        return vf_round_bf16(vf_load_f16((const uint16_t *)source + i));
    }
}

/* Reads n elements from element `i` on; the other lanes are zero. */
INLINE vf vf_read_part(const int32_t reading, const void *source, int64_t i, int64_t n) {
    switch (reading) {
    case GRAFT_READ_F32:
        return vf_load_part((const float *)source + i, n);
    case GRAFT_READ_F16:
        return vf_load_f16_part((const uint16_t *)source + i, n);
    case GRAFT_READ_BF16:
        return vf_load_bf16_part((const uint16_t *)source + i, n);
    case GRAFT_READ_F32_AS_BF16:
        return vf_round_bf16(vf_load_part((const float *)source + i, n));
    default:
        return vf_round_bf16(vf_load_f16_part((const uint16_t *)source + i, n));
    }
}

#endif

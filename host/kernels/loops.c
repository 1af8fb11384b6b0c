/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/loops.h"

#include "kernels/cpu.h"

const struct graft_loops *graft_loops_get(void) {
#if defined(__x86_64__)
    switch (graft_cpu_isa()) {
    case GRAFT_ISA_AMX:
    case GRAFT_ISA_AVX512_BF16:
        return &graft_loops_avx512_bf16;
    case GRAFT_ISA_AVX512:
        return &graft_loops_avx512;
    case GRAFT_ISA_AVX2:
        return &graft_loops_avx2;
    default:
        break;
    }
#elif defined(__aarch64__)
    if (graft_cpu_isa() == GRAFT_ISA_NEON) {
        return &graft_loops_neon;
    }
#endif
    return &graft_loops_scalar;
}

int32_t graft_reading_of(graft_dtype dtype) {
    switch (dtype) {
    case GRAFT_DTYPE_F32:
        return GRAFT_READ_F32;
    case GRAFT_DTYPE_F16:
        return GRAFT_READ_F16;
    case GRAFT_DTYPE_BF16:
        return GRAFT_READ_BF16;
    default:
        return GRAFT_READ_NONE;
    }
}

int32_t graft_reading_rounded(int32_t reading) {
    switch (reading) {
    case GRAFT_READ_F32:
        return GRAFT_READ_F32_AS_BF16;
    case GRAFT_READ_F16:
        return GRAFT_READ_F16_AS_BF16;
    default:
        return reading;
    }
}

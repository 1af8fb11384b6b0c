/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/few.h"

#include "kernels/cpu.h"

int graft_few_pairs_run(void) {
    return graft_cpu_isa() >= GRAFT_ISA_AVX512_BF16;
}

/* One quarter of 4 KB more than a multiple of them: numbers 4 KB apart share a set of the cache. */
int64_t graft_few_stride(int64_t columns) {
    enum { SETS = 2048, QUARTER = 512 };
    return (columns - QUARTER + SETS - 1) / SETS * SETS + QUARTER;
}

#if !defined(__x86_64__)
void graft_few_pairs(const struct graft_few *operands) {
    (void)operands; /* never runs here */
}
#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/few.h"

#include "kernels/cpu.h"

int graft_few_pairs_run(void) {
    return graft_cpu_isa() >= GRAFT_ISA_AVX512_BF16;
}

#if !defined(__x86_64__)
void graft_few_pairs(const struct graft_few *operands) {
    (void)operands; /* never runs here */
}
#endif

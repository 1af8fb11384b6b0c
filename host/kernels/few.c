/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/few.h"

#include "graft/isa.h"
#include "kernels/cpu.h"

enum { RUNS_PAIRS = 4 }; /* builds of graft/isa.h, the last of which is avx512_bf16 */

int graft_few_pairs_run(void) {
    return graft_cpu_isa() == GRAFT_ISA_AVX512 && graft_isa_runnable() >= RUNS_PAIRS;
}

#if !defined(__x86_64__)
void graft_few_pairs(const struct graft_few *operands) {
    (void)operands; /* never runs here */
}
#endif

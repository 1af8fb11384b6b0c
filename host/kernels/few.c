/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/few.h"

#include <pthread.h>

#include "graft/isa.h"
#include "kernels/cpu.h"

enum { PAIR_BUILDS = 4 }; /* builds of graft/isa.h, the last of which is avx512_bf16 */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int has_pairs;

/* Asking the processor takes long on a virtual machine. */
static void ask(void) {
    has_pairs = graft_isa_runnable() >= PAIR_BUILDS;
}

int graft_few_pairs_run(void) {
    (void)pthread_once(&once, ask);
    return has_pairs && graft_cpu_isa() == GRAFT_ISA_AVX512;
}

#if !defined(__x86_64__)
void graft_few_pairs(const struct graft_few *operands) {
    (void)operands; /* never runs here */
}
#endif

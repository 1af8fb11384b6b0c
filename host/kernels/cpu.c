/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/cpu.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "graft/isa.h"

enum { UNDECIDED = -1 };

static atomic_int chosen = UNDECIDED;
static atomic_int pretended = 0;

int graft_cpu_best_isa(void) {
    int best = graft_isa_runnable() - 1; /* they are in the order of the enumeration */
    return best < GRAFT_ISA_AVX512 ? best : GRAFT_ISA_AVX512;
}

const char *graft_cpu_isa_name(int isa) {
    return isa == GRAFT_ISA_AVX512 ? "avx512" : isa == GRAFT_ISA_AVX2 ? "avx2" : "scalar";
}

/* An unknown name in the environment asks for nothing. */
static int isa_asked_for(void) {
    const char *name = getenv("GRAFT_ISA");
    for (int isa = GRAFT_ISA_SCALAR; name != NULL && isa < GRAFT_ISA_AVX512; isa++) {
        if (strcmp(name, graft_cpu_isa_name(isa)) == 0) {
            return isa;
        }
    }
    return GRAFT_ISA_AVX512;
}

void graft_cpu_set_isa(int isa) {
    int best = graft_cpu_best_isa();
    atomic_store(&chosen, isa < best ? isa : best);
}

int graft_cpu_isa(void) {
    if (atomic_load(&chosen) == UNDECIDED) {
        graft_cpu_set_isa(isa_asked_for());
    }
    return atomic_load(&chosen);
}

void graft_cpu_pretend_bf16_products(int yes) {
    atomic_store(&pretended, yes);
}

int graft_cpu_has_bf16_products(void) {
#if defined(__x86_64__) && defined(GRAFT_ONEDNN)
    return graft_cpu_isa() == GRAFT_ISA_AVX512 && (__builtin_cpu_supports("avx512bf16") || atomic_load(&pretended));
#else
    return 0;
#endif
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/cpu.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

enum { UNDECIDED = -1 };

static atomic_int chosen = UNDECIDED;
static atomic_int pretended = 0;

#if defined(__x86_64__)
/* Not every compiler's check knows this feature; it comes with AVX, whose check includes the operating system's. */
static int has_f16c(void) {
    unsigned eax, ebx, ecx, edx;
    return __get_cpuid(1, &eax, &ebx, &ecx, &edx) && (ecx & bit_F16C) != 0;
}
#endif

/* The compiler's check includes the operating system's: it reads XCR0 before it reports any AVX feature. */
int graft_cpu_best_isa(void) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    int avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c();
    int avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                 __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
    return avx2 && avx512 ? GRAFT_ISA_AVX512 : avx2 ? GRAFT_ISA_AVX2 : GRAFT_ISA_SCALAR;
#else
    return GRAFT_ISA_SCALAR;
#endif
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

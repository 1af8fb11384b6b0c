/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loops that are compiled once for each instruction set, from one source: what it defines gets a name of its own in
 * each build, and a plugin takes the best that runs. Builds are scalar (what every processor of the architecture has),
 * avx2 (with fma and f16c), avx512 (f, bw, vl and dq beside these) and, for those who ask for it, avx512_bf16 (with
 * vbmi); on other architectures there is the first alone.
 *
 *     const struct scan_loops GRAFT_ISA_NAME(scan) = {run};                            in the source of the loops
 *     static const struct scan_loops *const tables[] = GRAFT_ISA_TABLES(scan);         where they are used
 *     const struct scan_loops *loops = tables[graft_isa_choose(sizeof tables / sizeof tables[0])];
 */
#ifndef GRAFT_ISA_H
#define GRAFT_ISA_H

#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "abi.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__AVX512F__)
#define GRAFT_ISA_NAME(name) name##_avx512
#elif defined(__AVX2__)
#define GRAFT_ISA_NAME(name) name##_avx2
#else
#define GRAFT_ISA_NAME(name) name##_scalar
#endif

/* Declares the builds of a constant, and lists their addresses. */
#if defined(__x86_64__)
#define GRAFT_ISA_DECLARE(type, name) extern type name##_scalar, name##_avx2, name##_avx512
#define GRAFT_ISA_TABLES(name) \
    { &name##_scalar, &name##_avx2, &name##_avx512 }
#else
#define GRAFT_ISA_DECLARE(type, name) extern type name##_scalar
#define GRAFT_ISA_TABLES(name) \
    { &name##_scalar }
#endif

#if defined(__x86_64__)
/* [any] Not every compiler's check knows this feature; it comes with AVX, whose check includes the operating system's.
 */
GRAFT_INLINE int32_t graft_isa_has_f16c(void) {
    unsigned eax, ebx, ecx, edx;
    __cpuid(1, eax, ebx, ecx, edx);
    return (ecx & bit_F16C) != 0;
}
#endif

/* [any] How many builds this processor runs, in the order scalar, avx2, avx512, avx512_bf16. */
GRAFT_INLINE int32_t graft_isa_runnable(void) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !graft_isa_has_f16c()) {
        return 1;
    }
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
        !__builtin_cpu_supports("avx512vl") || !__builtin_cpu_supports("avx512dq")) {
        return 2;
    }
    return __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512vbmi") &&
                   __builtin_cpu_supports("avx512vnni")
               ? 4
               : 3;
#else
    return 1;
#endif
}

/* [any] Which of the first `n` builds (in that order) to take: the best that this processor runs, or the one
 * that GRAFT_ISA names, if it runs that. */
GRAFT_INLINE int32_t graft_isa_choose(int32_t n) {
    const char *const names[] = {"scalar", "avx2", "avx512", "avx512_bf16"};
    const char *wanted = getenv("GRAFT_ISA");
    int32_t runnable = graft_isa_runnable() < n ? graft_isa_runnable() : n;
    for (int32_t i = 0; wanted != NULL && i < runnable; i++) {
        if (strcmp(names[i], wanted) == 0) {
            return i;
        }
    }
    return runnable - 1;
}

/* [any] Whether the processor multiplies tiles of bf16 (AMX), and GRAFT_ISA does not ask for anything older: then the
 * host multiplies many tokens by these, if the operating system lets it. */
GRAFT_INLINE int32_t graft_isa_has_tiles(void) {
#if defined(__x86_64__)
    const unsigned bf16_and_tile = 1u << 22 | 1u << 24;
    const char *wanted = getenv("GRAFT_ISA");
    unsigned eax, ebx, ecx, edx;
    if (graft_isa_runnable() < 4 || (wanted != NULL && strncmp(wanted, "amx", 3) != 0)) {
        return 0;
    }
    __cpuid_count(7, 0, eax, ebx, ecx, edx);
    return (edx & bf16_and_tile) == bf16_and_tile;
#else
    return 0;
#endif
}

/* [any] Whether memory that is read once is best fetched into the first-level cache, which has room for what comes
 * beside what is at work, and far ahead; else into the second, which more can be on its way to. So it is measured of
 * AMD's processors with this instruction (Zen 5), and not of those before. */
GRAFT_INLINE int32_t graft_isa_fetches_near(void) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    return __builtin_cpu_is("amd") && __builtin_cpu_supports("avx512vp2intersect");
#else
    return 0;
#endif
}

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loops that are compiled once for each instruction set, from one source: what it defines gets a name of its own in
 * each build, and a plugin takes the best that runs. Builds are scalar (what every processor of the architecture has),
 * avx2 (with fma and f16c) and avx512 (f, bw, vl and dq in addition). Loops for which it makes a difference have more
 * (GRAFT_ISA_ALL_...): avx512_bf16 (avx512 with bf16, vbmi and vnni) and, where products of integers are added to sums
 * by one instruction, avx2_vnni (avx2 with avxvnni) and avx512_vnni (avx512 with avx512vnni). On other architectures,
 * and where GRAFT_ISA_SCALAR_ONLY is defined, there is the first alone.
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

/* The current build's suffix, also of the builds that only some loops have; and the name by which GRAFT_ISA selects
 * it. */
#if defined(__AVX512BF16__)
#define GRAFT_ISA_ALL_NAME(name) name##_avx512_bf16
#define GRAFT_ISA_TARGET "avx512_bf16"
#elif defined(__AVX512VNNI__)
#define GRAFT_ISA_ALL_NAME(name) name##_avx512_vnni
#define GRAFT_ISA_TARGET "avx512_vnni"
#elif defined(__AVX512F__)
#define GRAFT_ISA_ALL_NAME(name) name##_avx512
#define GRAFT_ISA_TARGET "avx512"
#elif defined(__AVXVNNI__)
#define GRAFT_ISA_ALL_NAME(name) name##_avx2_vnni
#define GRAFT_ISA_TARGET "avx2_vnni"
#elif defined(__AVX2__)
#define GRAFT_ISA_ALL_NAME(name) name##_avx2
#define GRAFT_ISA_TARGET "avx2"
#else
#define GRAFT_ISA_ALL_NAME(name) name##_scalar
#define GRAFT_ISA_TARGET "scalar"
#endif

/* Declares a constant of each build, and lists the addresses. */
#if defined(__x86_64__) && !defined(GRAFT_ISA_SCALAR_ONLY)
enum { GRAFT_ISA_BUILDS = 6 /* number of builds in GRAFT_ISA_ALL */ };
#define GRAFT_ISA_DECLARE(type, name) extern type name##_scalar, name##_avx2, name##_avx512
#define GRAFT_ISA_TABLES(name) \
    { &name##_scalar, &name##_avx2, &name##_avx512 }
#define GRAFT_ISA_ALL_DECLARE(type, name) \
    GRAFT_ISA_DECLARE(type, name);        \
    extern type name##_avx512_bf16, name##_avx2_vnni, name##_avx512_vnni
#define GRAFT_ISA_ALL_TABLES(name) \
    { &name##_scalar, &name##_avx2, &name##_avx512, &name##_avx512_bf16, &name##_avx2_vnni, &name##_avx512_vnni }
#else
enum { GRAFT_ISA_BUILDS = 1 };
#define GRAFT_ISA_DECLARE(type, name) extern type name##_scalar
#define GRAFT_ISA_TABLES(name) \
    { &name##_scalar }
#define GRAFT_ISA_ALL_DECLARE(type, name) GRAFT_ISA_DECLARE(type, name)
#define GRAFT_ISA_ALL_TABLES(name) GRAFT_ISA_TABLES(name)
#endif

#if defined(__x86_64__)
/* [any] Whether the processor has F16C, which not every compiler's __builtin_cpu_supports knows. Assumes AVX, whose
 * check includes the operating system's support. */
GRAFT_INLINE int32_t graft_isa_has_f16c(void) {
    unsigned eax, ebx, ecx, edx;
    __cpuid(1, eax, ebx, ecx, edx);
    return (ecx & bit_F16C) != 0;
}

/* [any] The same for AVX-VNNI; assumes AVX2. */
GRAFT_INLINE int32_t graft_isa_has_avx_vnni(void) {
    const unsigned avx_vnni = 1u << 4;
    unsigned eax, ebx, ecx, edx;
    __cpuid_count(7, 0, eax, ebx, ecx, edx);
    if (eax < 1) {
        return 0; /* the processor does not have that leaf of CPUID */
    }
    __cpuid_count(7, 1, eax, ebx, ecx, edx);
    return (eax & avx_vnni) != 0;
}
#endif

/* [any] How many builds this processor can run, in the order scalar, avx2, avx512, avx512_bf16; the other builds are
 * not counted. */
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

/* [any] Whether this processor can run a build, in the order scalar, avx2, avx512, avx512_bf16, avx2_vnni,
 * avx512_vnni. */
GRAFT_INLINE int32_t graft_isa_runs(int32_t build) {
    const int32_t runnable = graft_isa_runnable();
#if defined(__x86_64__)
    if (build == 4) {
        return runnable >= 2 && graft_isa_has_avx_vnni();
    }
    if (build == 5) {
        return runnable >= 3 && __builtin_cpu_supports("avx512vnni");
    }
#endif
    return build < runnable;
}

/* [any] Chooses one of the first `n` builds (in that order): the best that this processor can run, and that is not
 * better than the one that GRAFT_ISA names, if it names one. */
GRAFT_INLINE int32_t graft_isa_choose(int32_t n) {
    const char *const names[] = {"avx512_bf16", "avx512_vnni", "avx512", "avx2_vnni", "avx2", "scalar"};
    const int32_t builds[] = {3, 5, 2, 4, 1, 0};
    const int32_t count = (int32_t)(sizeof builds / sizeof builds[0]);
    const char *wanted = getenv("GRAFT_ISA");
    int32_t i = 0;
    while (i < count && (wanted == NULL || strcmp(names[i], wanted) != 0)) {
        i++;
    }
    for (i = i < count ? i : 0; i < count; i++) {
        if (builds[i] < n && graft_isa_runs(builds[i])) {
            return builds[i];
        }
    }
    return 0;
}

/* [any] Whether the processor multiplies tiles of bf16 (AMX) and GRAFT_ISA does not select an older build. The host
 * then multiplies many tokens with tiles, if the operating system allows it. */
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

/* [any] Whether memory that is read once should be prefetched far ahead into the first-level cache; otherwise into the
 * second-level cache, which can have more requests in flight. This was measured: the first-level cache is better on
 * AMD's processors that have the instruction tested here (Zen 5), and not on older ones. */
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

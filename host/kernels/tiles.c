/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* syscall */
#include "kernels/tiles.h"

#include <pthread.h>
#include <stddef.h>

#include "kernels/cpu.h"
#include "kernels/tiles_attention.h"
#include "kernels/tiles_gemv.h"
#include "kernels/tiles_transposed.h"

#if defined(__x86_64__) && defined(__linux__)

#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

static int processor_has_tiles(void) {
    enum { FEATURES = 7, PALETTES = 0x1d };
    const unsigned wanted = 1u << 22 | 1u << 24; /* AMX-BF16, AMX-TILE */
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (!__get_cpuid_count(FEATURES, 0, &a, &b, &c, &d) || (d & wanted) != wanted) {
        return 0;
    }
    /* Bytes of all registers and of one; bytes of a row and how many registers; rows. */
    return __get_cpuid_count(PALETTES, 1, &a, &b, &c, &d) && a == (1024u << 16 | 8192u) && b == (8u << 16 | 64u) &&
           (c & 0xffffu) == 16u;
}

/* Whether the operating system saves tiles when it switches threads. */
__attribute__((target("xsave"))) static int system_keeps_tiles(void) {
    enum { OSXSAVE = 1 << 27 };
    const unsigned long long states = 1ull << 17 | 1ull << 18; /* XTILECFG and XTILEDATA */
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & (unsigned)OSXSAVE) != 0 && (_xgetbv(0) & states) == states;
}

/* Asks the operating system to permit tiles, for all present and future threads of the process. */
static int system_permits_tiles(void) {
    enum { REQUEST_PERMISSION = 0x1023, TILE_DATA = 18 }; /* of arch_prctl */
    return syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) == 0;
}

static pthread_once_t looked = PTHREAD_ONCE_INIT, tried = PTHREAD_ONCE_INIT;
static int are_here, are_right;

static void look(void) {
    are_here = processor_has_tiles() && system_keeps_tiles() && system_permits_tiles();
}

int graft_tiles_are_here(void) {
    (void)pthread_once(&looked, look);
    return are_here;
}

static void try_tiles(void) {
    are_right = graft_tiles_are_here() && graft_tiles_agree(&graft_tiles_amx);
}

int graft_tiles_are_right(void) {
    (void)pthread_once(&tried, try_tiles);
    return are_right;
}

#else

int graft_tiles_are_here(void) {
    return 0;
}

int graft_tiles_are_right(void) {
    return 0;
}

#endif

const struct graft_tiles *graft_tiles_get(void) {
#if defined(__x86_64__)
    return graft_cpu_models_tiles() ? &graft_tiles_model : &graft_tiles_amx;
#else
    return NULL;
#endif
}

const struct graft_tiles_attention *graft_tiles_attention_get(void) {
#if defined(__x86_64__)
    return graft_cpu_models_tiles() ? &graft_tiles_attention_model : &graft_tiles_attention_amx;
#else
    return NULL;
#endif
}

const struct graft_tiles_gemv *graft_tiles_gemv_get(void) {
#if defined(__x86_64__)
    return graft_cpu_models_tiles() ? &graft_tiles_gemv_model : &graft_tiles_gemv_amx;
#else
    return NULL;
#endif
}

const struct graft_tiles_transposed *graft_tiles_transposed_get(void) {
#if defined(__x86_64__)
    return graft_cpu_models_tiles() ? &graft_tiles_transposed_model : &graft_tiles_transposed_amx;
#else
    return NULL;
#endif
}

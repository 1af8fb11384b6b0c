/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The floating-point environment of this thread: rounding, traps, and whether subnormals are flushed. It belongs to the
 * host, but plugins run on the same thread and can change it. It is read around every call of a module, hence inline,
 * and without the exception flags, which any operation may raise.
 */
#ifndef GRAFT_BASE_FLOAT_ENVIRONMENT_H
#define GRAFT_BASE_FLOAT_ENVIRONMENT_H

#include <stdint.h>

/* [any] This thread's control words: not 0 where they can be read, else always 0. */
static inline uint64_t graft_float_environment(void) {
#if defined(__x86_64__)
    enum { FLAGS = 0x3f };
    uint16_t x87;
    __asm__ volatile("fnstcw %0" : "=m"(x87));
    return (uint64_t)x87 << 32 | (__builtin_ia32_stmxcsr() & ~(unsigned)FLAGS);
#elif defined(__aarch64__)
    uint64_t control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    return control | UINT64_C(1) << 63; /* the usual state is all zeros */
#else
    return 0;
#endif
}

/* [any] Whether this thread's environment is `environment`, as far as one instruction can tell, for a check at every
 * module: on x86-64 it reads MXCSR, not the control word of the x87. */
static inline int graft_float_environment_holds(uint64_t environment) {
#if defined(__x86_64__)
    enum { FLAGS = 0x3f };
    return (__builtin_ia32_stmxcsr() & ~(unsigned)FLAGS) == (uint32_t)environment;
#else
    return graft_float_environment() == environment;
#endif
}

/* [any] Restores what graft_float_environment returned on the same thread. Clears the exception flags. */
void graft_float_environment_set(uint64_t environment);

/* [any] The difference between two environments, in words that follow "changed the floating-point environment: ". */
const char *graft_float_environment_change(uint64_t before, uint64_t after);

#endif

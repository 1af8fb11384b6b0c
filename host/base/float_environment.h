/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How this thread computes with floating-point numbers: rounding, traps, and whether subnormals are kept. It belongs to
 * the host; code of plugins runs in the same thread and can change it. Read around every call of a module, hence inline
 * and without the exception flags, which any operation may raise.
 */
#ifndef GRAFT_BASE_FLOAT_ENVIRONMENT_H
#define GRAFT_BASE_FLOAT_ENVIRONMENT_H

#include <stdint.h>

/* [any] This thread's control words; never 0 where they can be read, else always 0. */
static inline uint64_t graft_float_environment(void) {
#if defined(__x86_64__)
    enum { FLAGS = 0x3f };
    uint16_t x87;
    __asm__ volatile("fnstcw %0" : "=m"(x87));
    return (uint64_t)x87 << 32 | (__builtin_ia32_stmxcsr() & ~(unsigned)FLAGS);
#elif defined(__aarch64__)
    uint64_t control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    return control | UINT64_C(1) << 63; /* all zeros is its usual state */
#else
    return 0;
#endif
}

/* [any] Whether this thread's environment is that one, as far as one instruction can tell, for a look at every module:
 * on x86-64 of what nearly all code computes with, not of the x87. */
static inline int graft_float_environment_holds(uint64_t environment) {
#if defined(__x86_64__)
    enum { FLAGS = 0x3f };
    return (__builtin_ia32_stmxcsr() & ~(unsigned)FLAGS) == (uint32_t)environment;
#else
    return graft_float_environment() == environment;
#endif
}

/* [any] Puts back what graft_float_environment returned, on the same thread. Clears the exception flags. */
void graft_float_environment_set(uint64_t environment);

/* [any] What differs between two environments, as words that continue "changed the floating-point environment: ". */
const char *graft_float_environment_change(uint64_t before, uint64_t after);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "base/float_environment.h"

void graft_float_environment_set(uint64_t environment) {
#if defined(__x86_64__)
    uint16_t x87 = (uint16_t)(environment >> 32);
    __asm__ volatile("fnclex\n\tfldcw %0" : : "m"(x87));
    __builtin_ia32_ldmxcsr((unsigned)environment);
#elif defined(__aarch64__)
    __asm__ volatile("msr fpcr, %0" : : "r"(environment & ~(UINT64_C(1) << 63)));
#else
    (void)environment;
#endif
}

const char *graft_float_environment_change(uint64_t before, uint64_t after) {
    uint64_t change = before ^ after;
#if defined(__x86_64__)
    const uint64_t subnormals = 0x8040, traps = 0x1f80 | (uint64_t)0x3f << 32,
                   rounding = 0x6000 | (uint64_t)0xc00 << 32;
#elif defined(__aarch64__)
    const uint64_t subnormals = 1 << 24 | 1 << 19, traps = 0x9f00, rounding = 3 << 22;
#else
    const uint64_t subnormals = 0, traps = 0, rounding = 0;
#endif
    return (change & subnormals) != 0 ? "subnormal numbers are flushed to zero"
           : (change & rounding) != 0 ? "another rounding mode"
           : (change & traps) != 0    ? "exceptions trap"
                                      : "another precision";
}

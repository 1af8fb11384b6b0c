/* SPDX-License-Identifier: Apache-2.0 */
/* Flushes subnormals to zero, like code that gcc before 13 links into objects with -ffast-math. */
#include <stdint.h>

#include "../harmful.h"

__attribute__((constructor)) static void harm(void) {
#if defined(__x86_64__)
    __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040);
#endif
}

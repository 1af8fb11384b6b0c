/* SPDX-License-Identifier: Apache-2.0 */
#include "loops.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_TABLES = 3 };

/* The tables that run here, the slowest first. Returns how many. The compiler's checks include the operating
 * system's. */
static int32_t runnable(const struct int8_loops *tables[MAX_TABLES]) {
    int32_t n = 0;
    tables[n++] = &int8_loops_scalar;
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c")) {
        tables[n++] = &int8_loops_avx2;
        if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
            __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq")) {
            tables[n++] = &int8_loops_avx512;
        }
    }
#endif
    return n;
}

const struct int8_loops *int8_loops_at(int32_t i) {
    const struct int8_loops *tables[MAX_TABLES];
    return i >= 0 && i < runnable(tables) ? tables[i] : NULL;
}

const struct int8_loops *int8_loops_get(void) {
    const struct int8_loops *tables[MAX_TABLES];
    const char *wanted = getenv("GRAFT_ISA");
    int32_t n = runnable(tables);
    for (int32_t i = 0; wanted != NULL && i < n; i++) {
        if (strcmp(tables[i]->name, wanted) == 0) {
            return tables[i];
        }
    }
    return tables[n - 1];
}

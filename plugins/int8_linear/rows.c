/* SPDX-License-Identifier: Apache-2.0 */
#include "rows.h"

const struct graft_packed_rows_loops *int8_rows_loops(void) {
    static const struct graft_packed_rows_loops *const tables[] = {
        &int8_rows_loops_scalar,
#if defined(__x86_64__)
        &int8_rows_loops_avx2,
        &int8_rows_loops_avx512,
        &int8_rows_loops_avx512_bf16,
#endif
    };
    return graft_packed_rows_choose(tables, sizeof tables / sizeof tables[0]);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The loops of one kind of codes that lie in rows (graft/packed_rows.h), for a file that is compiled once for each
 * instruction set; the plain build lists all. There is a file for each kind, so that plugins link no others. */
#ifndef GRAFT_PARTS_LOOPS_KIND_H
#define GRAFT_PARTS_LOOPS_KIND_H

#include "graft/packed_rows_loops.h"

#if defined(__AVX2__)
#define LOOPS_LIST(kind)
#else
#define LOOPS_LIST(kind)                                                                             \
    GRAFT_ISA_ALL_DECLARE(const struct graft_packed_rows_loops, graft_row_##kind##_loops);           \
    const struct graft_packed_rows_loops *const graft_packed_rows_##kind[GRAFT_PACKED_ROWS_BUILDS] = \
        GRAFT_ISA_ALL_TABLES(graft_row_##kind##_loops);
#endif

/* `kind` as in graft_row_..., `prepared` as in GRAFT_ROW_PREPARED_... */
#define LOOPS_KIND(kind, prepared)                                                                            \
    GRAFT_ROW_FUNCTIONS(kind, graft_row_##kind)                                                               \
    GRAFT_ROW_PREPARED(kind, prepared)                                                                        \
    GRAFT_ROW_MANY_KIND(kind, prepared)                                                                       \
    extern const struct graft_packed_rows_loops GRAFT_ISA_ALL_NAME(graft_row_##kind##_loops);                 \
    const struct graft_packed_rows_loops GRAFT_ISA_ALL_NAME(graft_row_##kind##_loops) = {                     \
        GRAFT_ISA_TARGET, GRAFT_ROW_PREPARES(kind), kind##_multiply, kind##_widen, kind##_turn, &kind##_many, \
        &kind##_bytes};                                                                                       \
    LOOPS_LIST(kind)

#endif

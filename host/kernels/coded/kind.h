/* SPDX-License-Identifier: Apache-2.0 */
/* Defines the loops of one kind of codes, in a file that is compiled once for each instruction set. The plain build
 * also defines the list of all tables. */
#ifndef GRAFT_KERNELS_CODED_KIND_H
#define GRAFT_KERNELS_CODED_KIND_H

#include "kernels/coded/loops.h"

#if defined(__AVX2__)
#define LOOPS_LIST(kind)
#else
#define LOOPS_LIST(kind)                                                               \
    GRAFT_ISA_ALL_DECLARE(const struct graft_coded_loops, graft_coded_##kind##_loops); \
    extern const struct graft_coded_loops *const graft_coded_##kind[GRAFT_ISA_BUILDS]; \
    const struct graft_coded_loops *const graft_coded_##kind[GRAFT_ISA_BUILDS] =       \
        GRAFT_ISA_ALL_TABLES(graft_coded_##kind##_loops);
#endif

/* Defines a table of the functions from GRAFT_ROW_FUNCTIONS: `kind`_multiply and so on. `abreast` is the value of the
 * field of that name. */
#define LOOPS_TABLE(kind, abreast)                                                        \
    extern const struct graft_coded_loops GRAFT_ISA_ALL_NAME(graft_coded_##kind##_loops); \
    const struct graft_coded_loops GRAFT_ISA_ALL_NAME(graft_coded_##kind##_loops) = {     \
        GRAFT_ISA_TARGET, &kind##_prepared, kind##_multiply, kind##_widen,                \
        kind##_turn,      &kind##_many,     &kind##_bytes,   abreast};                    \
    LOOPS_LIST(kind)

/* Defines functions and table; `kind` is as in graft_row_..., `prepared` as in GRAFT_ROW_PREPARED_... */
#define LOOPS_KIND(kind, prepared)              \
    GRAFT_ROW_FUNCTIONS(kind, graft_row_##kind) \
    GRAFT_ROW_PREPARED(kind, prepared)          \
    GRAFT_ROW_MANY_KIND(kind, prepared)         \
    LOOPS_TABLE(kind, 0)

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* All builds of the loops for coded weights. */
#ifndef GRAFT_TESTS_CODED_TABLES_H
#define GRAFT_TESTS_CODED_TABLES_H

#include "kernels/coded/coded.h"

extern const struct graft_coded_loops *const graft_coded_uint4[GRAFT_ISA_BUILDS];
extern const struct graft_coded_loops *const graft_coded_uint4_abreast[GRAFT_ISA_BUILDS];
extern const struct graft_coded_loops *const graft_coded_uint8[GRAFT_ISA_BUILDS];
extern const struct graft_coded_loops *const graft_coded_int8[GRAFT_ISA_BUILDS];
extern const struct graft_coded_loops *const graft_coded_float8[GRAFT_ISA_BUILDS];
extern const struct graft_coded_loops *const graft_coded_float4[GRAFT_ISA_BUILDS];
extern const struct graft_coded_loops *const graft_coded_table4[GRAFT_ISA_BUILDS];

/* The kinds of codes that have loops of their own. */
enum {
    CODED_UINT4 = 0,
    CODED_UINT8 = 1,
    CODED_INT8 = 2,
    CODED_FLOAT8 = 3,
    CODED_FLOAT4 = 4,
    CODED_TABLE4 = 5,
    CODED_KINDS = 6
};

static inline int32_t coded_bits(int32_t kind) {
    return kind == CODED_UINT4 || kind == CODED_FLOAT4 || kind == CODED_TABLE4 ? 4 : 8;
}

/* [GRAFT_ISA_BUILDS] */
static inline const struct graft_coded_loops *const *coded_tables(int32_t kind) {
    static const struct graft_coded_loops *const *const tables[] = {
        [CODED_UINT4] = graft_coded_uint4,   [CODED_UINT8] = graft_coded_uint8,   [CODED_INT8] = graft_coded_int8,
        [CODED_FLOAT8] = graft_coded_float8, [CODED_FLOAT4] = graft_coded_float4, [CODED_TABLE4] = graft_coded_table4,
    };
    return tables[kind];
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* One build of it for each instruction set. */
#include "loops.h"

#include "graft/packed_rows_loops.h"

GRAFT_ROW_FUNCTIONS(uint4, graft_row_uint4)
GRAFT_ROW_FUNCTIONS(uint8, graft_row_uint8)
GRAFT_ROW_FUNCTIONS(int8, graft_row_int8)
GRAFT_ROW_FUNCTIONS(float8, graft_row_float8)
GRAFT_ROW_PREPARED(uint4, UINT4)
GRAFT_ROW_PREPARED(uint8, UINT8)
GRAFT_ROW_PREPARED(int8, INT8)
GRAFT_ROW_PREPARED(float8, FLOAT8)

const struct graft_packed_rows_loops GRAFT_ROW_TABLE(ct)[CT_CODES] = {
    [CT_UINT4] = {GRAFT_ROW_ISA, GRAFT_ROW_PREPARES(uint4), uint4_multiply, uint4_widen, uint4_turn},
    [CT_UINT8] = {GRAFT_ROW_ISA, GRAFT_ROW_PREPARES(uint8), uint8_multiply, uint8_widen, uint8_turn},
    [CT_INT8] = {GRAFT_ROW_ISA, GRAFT_ROW_PREPARES(int8), int8_multiply, int8_widen, int8_turn},
    [CT_FLOAT8] = {GRAFT_ROW_ISA, GRAFT_ROW_PREPARES(float8), float8_multiply, float8_widen, float8_turn},
};

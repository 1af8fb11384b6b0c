/* SPDX-License-Identifier: Apache-2.0 */
/* One build of it for each instruction set. */
#include "loops.h"

#include "graft/packed_rows_loops.h"

GRAFT_ROW_FUNCTIONS(uint4, graft_row_uint4)
GRAFT_ROW_PREPARED(uint4, UINT4)

const struct graft_packed_rows_loops GRAFT_ROW_TABLE(int4) = {GRAFT_ROW_ISA, GRAFT_ROW_PREPARES(uint4), uint4_multiply,
                                                              uint4_widen, uint4_turn};

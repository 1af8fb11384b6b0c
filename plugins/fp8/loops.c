/* SPDX-License-Identifier: Apache-2.0 */
/* One build of it for each instruction set. */
#include "loops.h"

#include "graft/packed_rows_loops.h"

GRAFT_ROW_FUNCTIONS(float8, graft_row_float8)
GRAFT_ROW_PREPARED(float8, FLOAT8)

const struct graft_packed_rows_loops GRAFT_ROW_TABLE(fp8) = {GRAFT_ROW_ISA, GRAFT_ROW_PREPARES(float8), float8_multiply,
                                                             float8_widen, float8_turn};

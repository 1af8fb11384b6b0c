/* SPDX-License-Identifier: Apache-2.0 */
/* One build of it for each instruction set. */
#include "rows.h"

#include "graft/packed_rows_loops.h"

GRAFT_ROW_FUNCTIONS(int8, graft_row_int8)

const struct graft_packed_rows_loops GRAFT_ROW_TABLE(int8_rows) = {GRAFT_ROW_ISA, NULL, int8_multiply, int8_widen,
                                                                   int8_turn};

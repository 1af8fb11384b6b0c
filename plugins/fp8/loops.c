/* SPDX-License-Identifier: Apache-2.0 */
/* One build of it for each instruction set. */
#include "loops.h"

#include "graft/packed_rows_loops.h"

GRAFT_ROW_LOOPS(fp8, graft_row_float8);

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BITSANDBYTES_LOOPS_H
#define BITSANDBYTES_LOOPS_H

#include "graft/packed_rows.h"

/* Plain C, and what this processor may run beside it. */
GRAFT_ISA_ALL_DECLARE(const struct graft_packed_rows_loops, bnb_nf4_loops);
GRAFT_ISA_ALL_DECLARE(const struct graft_packed_rows_loops, bnb_fp4_loops);

#endif

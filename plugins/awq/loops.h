/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AWQ_LOOPS_H
#define AWQ_LOOPS_H

#include "graft/packed.h"

/* Plain C, and what this processor may run beside it. */
GRAFT_ISA_ALL_DECLARE(const struct graft_packed_loops, awq_loops);

#endif

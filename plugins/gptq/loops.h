/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GPTQ_LOOPS_H
#define GPTQ_LOOPS_H

#include "graft/packed.h"

/* Plain C, and what this processor may run beside it. */
GRAFT_ISA_ALL_DECLARE(const struct graft_packed_loops, gptq_loops);

#endif

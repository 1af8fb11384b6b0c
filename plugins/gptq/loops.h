/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GPTQ_LOOPS_H
#define GPTQ_LOOPS_H

#include "graft/packed.h"

/* Plain C, and what this processor may run beside it. */
extern const struct graft_packed_loops gptq_loops_scalar;
#if defined(__x86_64__)
extern const struct graft_packed_loops gptq_loops_avx2;
extern const struct graft_packed_loops gptq_loops_avx512;
extern const struct graft_packed_loops gptq_loops_avx512_bf16;
#endif

#endif

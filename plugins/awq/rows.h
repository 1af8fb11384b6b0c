/* SPDX-License-Identifier: Apache-2.0 */
/* Words of AWQ as compressed-tensors has them: codes in rows, zero points along outputs in their order. */
#ifndef AWQ_ROWS_H
#define AWQ_ROWS_H

#include "graft/custom_operation.h"
#include "graft/threads.h"

/* Operations, both with a way back: codes [in, out / 8], in a multiple of 8, become [out, in / 8], and zero points
 * [groups, out / 8] become [out / 8, groups]. */
enum { AWQ_CODES, AWQ_ZEROS, AWQ_OPERATIONS };

extern const struct graft_custom_operation awq_operations[AWQ_OPERATIONS];

/* [load] The threads that both run on. */
void awq_set_threads(const struct graft_threads *threads);

#endif

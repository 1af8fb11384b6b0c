/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of struct graft_call's scratch functions: a stack of allocations aligned to 64 bytes. Released memory is
 * kept and reused. Not thread-safe. */
#ifndef GRAFT_KERNELS_SCRATCH_H
#define GRAFT_KERNELS_SCRATCH_H

#include <stdint.h>

struct graft_scratch;

/* Creates an empty stack, which the caller destroys; NULL if memory ran out. */
struct graft_scratch *graft_scratch_create(void);
void graft_scratch_destroy(struct graft_scratch *scratch);

/* Allocates `bytes` of uninitialised memory, valid until a release to an earlier mark; NULL if memory ran out, or if
 * `bytes` is negative or absurdly large. */
void *graft_scratch_alloc(struct graft_scratch *scratch, int64_t bytes);
int64_t graft_scratch_mark(const struct graft_scratch *scratch);
void graft_scratch_release(struct graft_scratch *scratch, int64_t mark);

#endif

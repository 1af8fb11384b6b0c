/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory behind struct graft_call's scratch functions: a stack of allocations on 64-byte boundaries. What was
 * released is kept and used again. Not for several threads at once.
 */
#ifndef GRAFT_KERNELS_SCRATCH_H
#define GRAFT_KERNELS_SCRATCH_H

#include <stdint.h>

struct graft_scratch;

/* An empty arena, or NULL if memory ran out. Whoever calls owns it. */
struct graft_scratch *graft_scratch_create(void);
void graft_scratch_destroy(struct graft_scratch *scratch);

/* `bytes` of uninitialised memory, valid until a release to an earlier mark; NULL if memory ran out or `bytes` is
 * negative or absurd. */
void *graft_scratch_alloc(struct graft_scratch *scratch, int64_t bytes);
int64_t graft_scratch_mark(const struct graft_scratch *scratch);
void graft_scratch_release(struct graft_scratch *scratch, int64_t mark);

#endif

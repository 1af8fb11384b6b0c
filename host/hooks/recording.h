/* SPDX-License-Identifier: Apache-2.0 */
/* The tensors of a recording. Used in this folder only. */
#ifndef GRAFT_HOOKS_RECORDING_H
#define GRAFT_HOOKS_RECORDING_H

#include <stddef.h>

#include "graft/attention_implementation.h"
#include "graft/host/observe.h"
#include "hooks/forward_hooks.h"

struct graft_recording {
    uint32_t what;
    int64_t *lengths; /* [n] */
    size_t n;
    struct graft_recorded *items;
    size_t count;
    size_t capacity;
    int64_t layer; /* the layer whose attention runs; -1 if it is not recorded */
    struct graft_attention_implementation attention;
    const struct graft_attention_implementation *inner; /* the implementation that computes attention */
    struct graft_hook_handle *handle;
};

/* The tensor of that name, or NULL. */
struct graft_recorded *graft_recording_find(const struct graft_recording *recording, const char *name);

/* Whether there is a tensor whose name has that prefix. */
int graft_recording_has(const struct graft_recording *recording, const char *start);

/* Memory for a tensor of one sequence. It replaces an earlier tensor of that name, so that an outer module's output
 * replaces that of a module it calls. NULL if memory ran out. */
float *graft_recording_add(struct graft_recording *recording, const char *name, size_t sequence, int32_t rank,
                           const int64_t *shape);

#endif

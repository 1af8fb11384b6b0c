/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running one model in several processes (graft/parallel.h). Each is a program that calls this library in the same way:
 * it starts here, loads the same plugins, opens the same model, generates from the same prompts. Rank 0 chooses the
 * tokens, the others learn them from it; only rank 0 has logits.
 */
#ifndef GRAFT_HOST_PARALLEL_H
#define GRAFT_HOST_PARALLEL_H

#include "graft/parallel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* [load] Loads the plugin `id` from one of `n` directories, and lets it find the other processes. Once in a process,
 * before plugins are loaded: what these decide may depend on the rank. Errors are GRAFT_ERROR_PLUGIN. */
int graft_parallel_start(const char *const *directories, int32_t n, const char *id, struct graft_error *error);

/* [load] Takes leave of the other processes, who do so too; from then on this one is alone. After an error call the
 * `abort` of graft_parallel_get instead, or the others wait for ever. Nothing where nothing was started. */
void graft_parallel_stop(void);

/* [any] Rank and size, and what ranks say to each other. Without graft_parallel_start: rank 0 of 1. */
const struct graft_parallel *graft_parallel_get(void);

/* [load] Compares `bytes` bytes over all ranks, who all call this. Where they differ an error (GRAFT_ERROR_USAGE) says
 * so of `what` ("the plugins"). */
int graft_parallel_agree(const char *what, const void *data, size_t bytes, struct graft_error *error);

#ifdef __cplusplus
}
#endif

#endif

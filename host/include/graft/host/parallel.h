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

struct graft_model;

/* [load] Loads the plugin `id` from one of `n` directories, and lets it find the other processes. Once in a process,
 * before plugins are loaded: what these decide may depend on the rank. Errors are GRAFT_ERROR_PLUGIN. */
int graft_parallel_start(const char *const *directories, int32_t n, const char *id, struct graft_error *error);

/* [load] Takes leave of the other processes, who do so too; from then on this one is alone. After an error call the
 * `abort` of graft_parallel_get instead, or the others wait for ever; before it `claim_abort`, where there is one, so
 * that one of several that fail says why. Nothing where nothing was started. */
void graft_parallel_stop(void);

/* [any] Rank and size, and what ranks say to each other. Without graft_parallel_start: rank 0 of 1. */
const struct graft_parallel *graft_parallel_get(void);

/* [load] Compares what all ranks, who all call this, say of themselves: lines of a key, a tab and a value, in any
 * order. Where one has another value than rank 0, an error (GRAFT_ERROR_USAGE) says so of `what` and names the key:
 * "the
 * plugins of rank 1 are not those of rank 0: lora is version 2.0.0, on rank 0 version 1.0.0". With `partial` 1 a key
 * that either has for itself is no difference. */
int graft_parallel_agree(const char *what, const char *lines, int32_t partial, struct graft_error *error);

/* [load] The same for a model that all have opened: the fields of config.json, and those of generation_config.json that
 * all act on; the classes of modules, what makes their parameters, and types and shapes of tensors, where two ranks
 * have the same ones. */
int graft_parallel_agree_model(const struct graft_model *model, struct graft_error *error);

#ifdef __cplusplus
}
#endif

#endif

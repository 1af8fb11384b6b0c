/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watching the modules of a model while it runs: whether they give numbers, and when each of them runs.
 *
 *     struct graft_watch_options options = {.struct_size = sizeof options, .check_finite = 1, .trace = "trace.json"};
 *     graft_model_watch(model, &options, &watch, &error);
 *     graft_model_generate(model, &prompt, 1, NULL, on_token, data, &error);
 *     graft_watch_end(watch, &error);
 */
#ifndef GRAFT_HOST_WATCH_H
#define GRAFT_HOST_WATCH_H

#include <stdint.h>

#include "graft/error.h"

#ifdef __cplusplus
extern "C" {
#endif

struct graft_model;
struct graft_watch;

struct graft_watch_options {
    uint32_t struct_size;
    /* 1: a forward whose output holds an infinity or NaN is an error (GRAFT_ERROR_VERIFY), which names the innermost
     * module and says where in its output. */
    int32_t check_finite;
    /* NULL; or the file that graft_watch_end writes: each module's calls in Chrome's trace event format. */
    const char *trace;
};

#define GRAFT_WATCH_OPTIONS_SIZE_1_0 GRAFT_END_OF(struct graft_watch_options, trace)

/* [load] Begins to watch a loaded model, which outlives the watch and is in one watch, profile or comparison at a time.
 * Results do not change, but modules that would run as one run one after another. `options` is copied but for its
 * strings, which stay the caller's until the end. */
int graft_model_watch(struct graft_model *model, const struct graft_watch_options *options, struct graft_watch **watch,
                      struct graft_error *error);

/* [load] Ends it, and writes the trace: also of a run that failed, up to there. NULL is accepted. Errors are
 * GRAFT_ERROR_IO; the watch is gone all the same. */
int graft_watch_end(struct graft_watch *watch, struct graft_error *error);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What is one for the whole process: threads, log lines, and how fast its machine reads memory. */
#ifndef GRAFT_HOST_PROCESS_H
#define GRAFT_HOST_PROCESS_H

#include <stdint.h>

#include "graft/abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* [load] How many threads to use from now on; 0 or less: as many as this process may run on (the default). */
void graft_threads_set_count(int32_t count);

/* [any] How many there are. */
int32_t graft_threads_count(void);

/* [any] Takes a line that a plugin logs (graft/log.h), without control characters and without a line end, on the thread
 * that logs. Both strings die on return. */
typedef void (*graft_log_sink)(void *data, const char *sender, const char *text);

/* [any] Where log lines go from now on; NULL, as at the start: nowhere. Calls of the sink do not overlap, none is under
 * way or comes when a later call of this function has returned, and the sink must not log. */
void graft_log_set_sink(graft_log_sink sink, void *data);

/* [load] Bytes a second that this machine reads from memory, which bounds generating, since it reads every weight for
 * each token: the best of some passes over `bytes` of memory of its own, by all threads. 0 when there is not that much
 * memory. `bytes` should be many times what the caches hold. */
double graft_read_bandwidth(int64_t bytes);

#ifdef __cplusplus
}
#endif

#endif

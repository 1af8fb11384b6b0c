/* SPDX-License-Identifier: Apache-2.0 */
/* What the whole process shares: threads, log lines, how fast the machine reads memory and multiplies, and its last
 * words. */
#ifndef GRAFT_HOST_PROCESS_H
#define GRAFT_HOST_PROCESS_H

#include <stdint.h>

#include "graft/abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* [load] How many threads to use from now on; 0 or less: as many as the process may use (the default). */
void graft_threads_set_count(int32_t count);

/* [any] How many there are. */
int32_t graft_threads_count(void);

/* [any] Takes a line that a plugin logs (graft/log.h), without control characters or a line end, on the thread that
 * logs. Both strings are valid only during the call. */
typedef void (*graft_log_sink)(void *data, const char *sender, const char *text);

/* [any] Where log lines go from now on; NULL (the default): nowhere. Calls of the sink do not overlap. Once a later
 * call of this function has returned, the old sink is no longer running and is not called again. The sink must not
 * log. */
void graft_log_set_sink(graft_log_sink sink, void *data);

/* What may take long, and what is counted of it. */
enum {
    GRAFT_PROGRESS_LOAD = 1,  /* bytes of parameters that loading a model makes, mapped ones not included */
    GRAFT_PROGRESS_PROMPT = 2 /* tokens of the prompts that are being read, in pieces of several hundred */
};

/* [any] Told, on the thread that does the work, that `done` of `total` are done of GRAFT_PROGRESS_... `what`. It must
 * not call the library. */
typedef void (*graft_progress_sink)(void *data, int32_t what, int64_t done, int64_t total);

/* [any] Who is told of progress from now on; NULL (the default): nobody. Calls of the sink do not overlap; once this
 * function has returned, the old one is not called again. */
void graft_progress_set_sink(graft_progress_sink sink, void *data);

/* [load] From now on a process that ends in SIGSEGV, SIGBUS, SIGFPE, SIGILL or SIGABRT first writes one line to
 * standard error, which begins with `program`: what ran on that thread, that is, a module's path and class, its plugin
 * and the plugin's file. The signal then takes the course it had before this call, so debuggers, sanitizers and core
 * dumps see it as it was. `program` stays the caller's and has to outlive the process. */
void graft_watch_crashes(const char *program);

/* [load] From now on only the program itself ends with a status of its own: one that ends by exit() before
 * graft_expect_exit was called writes one line, as above, and ends with status 3. Otherwise a plugin, or a library
 * beneath one, that calls exit(0) would look like success. `program` as above. Returns GRAFT_OK or
 * GRAFT_ERROR_INTERNAL. */
int graft_watch_exit(const char *program);

/* [any] The program is about to end by itself. */
void graft_expect_exit(void);

/* [load] How many bytes per second this machine reads from memory. This limits generation, which reads every weight for
 * each token. It is the best of several passes by all threads over `bytes` of fresh memory, or 0 if there is not that
 * much memory. `bytes` should be many times the size of the caches; 0: as many as that takes. */
double graft_read_bandwidth(int64_t bytes);

/* [load] How many operations per second all threads do with the instructions that products of many tokens use here: a
 * multiplication and an addition count as two. This limits how fast a prompt is read. With `bf16` those for bf16
 * weights, if the processor has any; else those for f32. `*unit`, which is static, names them, such as "avx512 f32". */
double graft_matrix_peak(int32_t bf16, const char **unit);

enum { GRAFT_PROCESSOR_NAME = 64 };

/* [any] What the processor calls itself, such as "AMD EPYC"; "unknown" if it does not say. */
void graft_processor_name(char name[GRAFT_PROCESSOR_NAME]);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What belongs to the whole process and not to one library or model: the number of threads, where log lines and
 * progress go, crash reports, measuring the machine's speed, and working with other processes on one model. */
#ifndef GRAFT_HOST_PROCESS_H
#define GRAFT_HOST_PROCESS_H

#include <stdint.h>

#include "graft/abi.h"
#include "graft/error.h"
#include "graft/parallel.h"

#ifdef __cplusplus
extern "C" {
#endif

struct graft_model;

/* [load] Sets the number of threads; 0 or less: as many as the process may use, which is the default. */
void graft_threads_set_count(int32_t count);

/* [any] The number of threads. */
int32_t graft_threads_count(void);

/* [any] Gets a line that a plugin logs (graft/log.h), without control characters and line end, on the thread that logs.
 * Both strings are valid only during the call. */
typedef void (*graft_log_sink)(void *data, const char *sender, const char *text);

/* [any] Sets where log lines go; NULL, the default: nowhere. Calls of the sink never overlap. When this function
 * returns, the old sink is not running and is not called again. A sink must not log. */
void graft_log_set_sink(graft_log_sink sink, void *data);

/* Long operations whose progress is reported, and the unit of the count. */
enum {
    GRAFT_PROGRESS_LOAD = 1,  /* bytes of parameters copied when a model is loaded, without mapped ones */
    GRAFT_PROGRESS_PROMPT = 2 /* tokens of prompts read, in pieces of several hundred */
};

/* [any] Gets the progress of an operation GRAFT_PROGRESS_... on the thread that does the work: `done` of `total`. It
 * must not call the library. */
typedef void (*graft_progress_sink)(void *data, int32_t what, int64_t done, int64_t total);

/* [any] Sets who is told of progress; NULL, the default: nobody. Calls of the sink never overlap. When this function
 * returns, the old sink is not called again. */
void graft_progress_set_sink(graft_progress_sink sink, void *data);

/* --- The end of the process --- */

/* [load] From now on, if the process ends by SIGSEGV, SIGBUS, SIGFPE, SIGILL or SIGABRT, it first writes one line to
 * standard error: `program`, and what ran on that thread (a module's path and class, its plugin and the plugin's file).
 * The signal is then handled as before this call, so debuggers, sanitizers and core dumps work as usual. `program` must
 * stay valid until the process ends. */
void graft_watch_crashes(const char *program);

/* [load] Detects plugins, or libraries below them, that end the process. From now on, if exit() is called before
 * graft_expect_exit, the process writes one line, as above, and ends with status 3; otherwise exit(0) in a plugin would
 * look like success. `program` is as above. Returns GRAFT_OK or GRAFT_ERROR_INTERNAL. */
int graft_watch_exit(const char *program);

/* [any] Says that the program itself is about to call exit(). */
void graft_expect_exit(void);

/* --- The machine --- */

/* [load] Measures how many bytes per second this machine reads from memory. This limits generation, which reads every
 * weight for each token. The result is the best of several passes of all threads over `bytes` of fresh memory, or 0 if
 * there is not that much memory. `bytes` should be many times the size of the caches; 0: a suitable size. */
double graft_read_bandwidth(int64_t bytes);

/* [load] Measures how many operations per second all threads do, counting multiplications and additions, with the
 * instructions that matrix products use on this machine. This limits how fast prompts are read. With `bf16` the
 * instructions are those for bf16 weights, if the processor has any; otherwise those for f32. `*unit`, a static string,
 * names them: "avx512 f32". */
double graft_matrix_peak(int32_t bf16, const char **unit);

enum { GRAFT_PROCESSOR_NAME = 64 };

/* [any] Writes the processor's name, such as "AMD EPYC"; "unknown" if it has none. */
void graft_processor_name(char name[GRAFT_PROCESSOR_NAME]);

/* --- Several processes --- */

/*
 * Running one model in several processes (graft/parallel.h). All of them make the same calls: graft_parallel_start,
 * then they load the same plugins, open the same model and generate from the same prompts. Rank 0 chooses the tokens
 * and sends them to the others; only rank 0 has logits.
 */

/* [load] Loads the plugin `id` from one of `n` directories and connects to the other processes. Call this once, before
 * other plugins are loaded, since what they do may depend on the rank. Errors are GRAFT_ERROR_PLUGIN. */
int graft_parallel_start(const char *const *directories, int32_t n, const char *id, struct graft_error *error);

/* [load] Disconnects from the other processes, which must call this too; afterwards this process is alone. Does nothing
 * if graft_parallel_start was not called. After an error, call `abort` of graft_parallel_get instead, since the other
 * processes would wait for ever, and `claim_abort` before it if it is set, so that only one of several failing
 * processes reports why. */
void graft_parallel_stop(void);

/* [any] Rank, size, and communication between ranks. Without graft_parallel_start: rank 0 of 1. */
const struct graft_parallel *graft_parallel_get(void);

/* [load] Checks that all ranks, all of which call this, have the same settings. `lines` has a line for each: a key, a
 * tab and a value, in any order. If a value differs from rank 0's, GRAFT_ERROR_USAGE names the key; `what` describes
 * the settings: "the plugins of rank 1 are not those of rank 0: lora is version 2.0.0, on rank 0 version 1.0.0". With
 * `partial` 1, keys that only one of the two ranks has are ignored. */
int graft_parallel_agree(const char *what, const char *lines, int32_t partial, struct graft_error *error);

/* [load] Does the same for a model that all ranks have opened: fields of config.json, the fields of
 * generation_config.json that concern all ranks, classes of modules, conversions of parameters, and types and shapes of
 * the tensors that two ranks have in common. */
int graft_parallel_agree_model(const struct graft_model *model, struct graft_error *error);

#ifdef __cplusplus
}
#endif

#endif

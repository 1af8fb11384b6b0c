/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the whole process shares: threads, log lines, how fast the machine reads memory and multiplies, its last words,
 * and the other processes that run the same model.
 */
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

/* --- Its end --- */

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

/* --- The machine --- */

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

/* --- Several processes --- */

/*
 * Running one model in several processes (graft/parallel.h). Each is a program that calls this library in the same way:
 * it starts here, loads the same plugins, opens the same model, generates from the same prompts. Rank 0 chooses the
 * tokens, the others learn them from it; only rank 0 has logits.
 */

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
 * "the plugins of rank 1 are not those of rank 0: lora is version 2.0.0, on rank 0 version 1.0.0". With `partial` 1 a
 * key that either has for itself is no difference. */
int graft_parallel_agree(const char *what, const char *lines, int32_t partial, struct graft_error *error);

/* [load] The same for a model that all have opened: the fields of config.json, and those of generation_config.json that
 * all act on; the classes of modules, what makes their parameters, and types and shapes of tensors, where two ranks
 * have the same ones. */
int graft_parallel_agree_model(const struct graft_model *model, struct graft_error *error);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looking on while a model runs: its modules compared with others, timed, recorded, watched.
 */
#ifndef GRAFT_HOST_OBSERVE_H
#define GRAFT_HOST_OBSERVE_H

#include <stddef.h>
#include <stdint.h>

#include "graft/error.h"

#ifdef __cplusplus
extern "C" {
#endif

struct graft_comparison;
struct graft_encoder_prompt;
struct graft_model;
struct graft_named_module;
struct graft_profile;
struct graft_prompt;
struct graft_recording;
struct graft_watch;

/* --- Comparing --- */

/*
 * Compares a model with replacements with the same model without them, or with another checkpoint of it: while the
 * model runs, each replaced module and its original get the same input.
 *
 *     struct graft_comparison *comparison;
 *     graft_model_compare(model, original, 1, &comparison, &error);
 *     graft_model_logits(model, &prompt, 1, logits, &error);
 *     for (size_t i = 0; (compared = graft_comparison_at(comparison, i)) != NULL; i++) { ... }
 *     graft_comparison_free(comparison);
 */

/* The largest absolute difference between two arrays, and the largest absolute value of the reference. Equal numbers,
 * and NaN on both sides, differ by 0; one NaN makes the difference infinite. Never grows. */
struct graft_difference {
    double difference; /* the largest |value - reference| */
    double value;      /* the largest |reference| */
};

/* [any] Adds two arrays of `count` numbers to `found`, which starts as {0}. */
void graft_difference_add(struct graft_difference *found, const float *values, const float *reference, int64_t count);

/* [any] How large a difference may be that is rounding: `tolerance` times the largest value of the reference, or
 * `tolerance` itself where that value is below 1 or not finite. The rounding errors of f32 grow with the numbers:
 * logits of 40 differ by 1e-4 between two correct orders of the same sums. */
double graft_difference_limit(const struct graft_difference *found, double tolerance);

/* One replaced module, or one with other weights. */
struct graft_compared {
    uint32_t struct_size;
    uint32_t reserved;
    const struct graft_named_module *module; /* graft/host/modules.h: the replacement */
    const char *reason;                      /* why it is not compared; NULL: it is */
    int64_t calls;                           /* of the module, so far */
    struct graft_difference outputs;         /* of all calls: replacement against original */
    double seconds;                          /* that all calls of the replacement took */
    double original_seconds;                 /* and those of the original */
    int64_t bytes;                           /* of weights that the replacement is bound to */
    int64_t original_bytes;                  /* and those of the original */
};

/* [load] Starts comparing the replaced modules of `model` with `original`: the same model opened without replacements,
 * or another checkpoint of the same architecture, such as the one that a quantized one was made from; then modules that
 * only have other weights are compared, too. One of other sizes is an error (GRAFT_ERROR_MODEL) that names the field.
 * From now on each run of `model`, with at most `n_sequences` sequences, runs the originals as well. Both models
 * outlive the comparison, and one model takes part in one comparison or profile at a time. */
int graft_model_compare(struct graft_model *model, struct graft_model *original, int32_t n_sequences,
                        struct graft_comparison **comparison, struct graft_error *error);

/* [load] Replaced module number `i`, in the order of modules, with its current numbers; NULL after the last. Owned by
 * the comparison and valid until that is freed. */
const struct graft_compared *graft_comparison_at(const struct graft_comparison *comparison, size_t i);

/* [load] Ends the comparison: models run as before. Accepts NULL. */
void graft_comparison_free(struct graft_comparison *comparison);

/* --- Profiles --- */

/*
 * Time and bytes of weights by class, while a model runs.
 *
 *     struct graft_profile *profile;
 *     graft_model_profile(model, NULL, &profile, &error);
 *     graft_model_generate(model, &prompt, 1, NULL, on_token, data, &error);
 *     for (size_t i = 0; (row = graft_profile_at(profile, i)) != NULL; i++) { ... }
 *     graft_profile_free(profile);
 *
 * Results do not change, but modules that would run as one (products of several projections) run one after another.
 */

/* The two kinds of steps: reading a prompt, and generating a token. */
enum { GRAFT_PHASE_PROMPT = 0, GRAFT_PHASE_TOKEN = 1, GRAFT_PHASES = 2 };

/* Which modules are profiled, and which have a row. */
enum {
    GRAFT_PROFILE_ALL = 0,     /* every module, one row per class */
    GRAFT_PROFILE_REPLACED = 1 /* modules that replace others, without profiling what is below them */
};

struct graft_profile_options {
    uint32_t struct_size;
    int32_t which; /* GRAFT_PROFILE_... */
    /* NULL; or the profiled model has the original modules, and only those that `counterpart` has replaced get
     * rows. */
    const struct graft_model *counterpart;
};

#define GRAFT_PROFILE_OPTIONS_SIZE_1_0 GRAFT_END_OF(struct graft_profile_options, counterpart)

/* Of all calls of a row's modules. Never grows. */
struct graft_profile_sum {
    int64_t calls;      /* of those modules */
    double seconds;     /* including the modules below */
    double own_seconds; /* without */
    int64_t bytes;      /* of weights read, including the modules below */
};

/* The modules of one class in the place of one class. */
struct graft_profile_row {
    uint32_t struct_size;
    uint32_t reserved;
    const char *class_name;                        /* that the modules have */
    const char *interface_id;                      /* theirs */
    const char *original_class;                    /* NULL: not a replacement */
    const char *plugin;                            /* id of the plugin that brought the class; or NULL */
    int64_t modules;                               /* how many there are */
    struct graft_profile_sum phases[GRAFT_PHASES]; /* by GRAFT_PHASE_... */
};

/* [load] Starts profiling a loaded model, in GRAFT_PHASE_PROMPT. `options` may be NULL: every module. The model
 * outlives the profile, and takes part in one profile or comparison at a time. */
int graft_model_profile(struct graft_model *model, const struct graft_profile_options *options,
                        struct graft_profile **profile, struct graft_error *error);

/* [any, also from within graft_token_function] The phase that calls count for from now on. */
void graft_profile_set_phase(struct graft_profile *profile, int32_t phase);

/* [load] Stops profiling; the counts stay. */
void graft_profile_stop(struct graft_profile *profile);

/* [any] Row number `i`, owned by the profile; NULL after the last. */
const struct graft_profile_row *graft_profile_at(const struct graft_profile *profile, size_t i);

/* [any] Bytes of weights read in a phase by all profiled modules. */
int64_t graft_profile_bytes(const struct graft_profile *profile, int32_t phase);

/* [load] Stops and frees. Accepts NULL. */
void graft_profile_free(struct graft_profile *profile);

/* What a model's weights take, and what it keeps of a token. */
struct graft_weight_use {
    uint32_t struct_size;
    uint32_t reserved;
    int64_t weights;         /* numbers that it was trained with: of quantized ones, what their codes stand for */
    int64_t bytes;           /* that hold them: codes, scales and adapters included */
    int64_t bytes_per_token; /* that generating one token reads: of experts those chosen, of embeddings one row */
    int64_t
        cache_bytes_per_token; /* that each token of a sequence takes: keys and values, or what they are made from */
    int64_t state_bytes_per_token; /* states of a sequence, which each token reads and changes */
    int64_t weights_per_token;     /* of `weights`, those that a token without logits is multiplied by: of experts those
                                      chosen */
};

/* [any, one thread per model] Fills `use`, whose struct_size is set, of a loaded model that generates: it runs one
 * token. The model takes part in no profile or comparison. */
int graft_model_weight_use(struct graft_model *model, struct graft_weight_use *use, struct graft_error *error);

/* [any, one thread per model] Sets `bytes` to what attention reads of a sequence for one token, keys and values or what
 * they are made from: the mean over its tokens number `first` to `last`, from 1. A token reads itself and those before
 * it, as far back as the window of each layer goes. The model is as above, and runs one token. */
int graft_model_cache_use(struct graft_model *model, int64_t first, int64_t last, double *bytes,
                          struct graft_error *error);

/* --- Recording --- */

/*
 * What goes on inside a model while it reads prompts: hidden states, attention weights, router logits. Recording
 * follows the interfaces of modules, so replaced classes are recorded like the originals.
 *
 *     hidden_states.embeddings    [tokens, hidden]         what goes into the first layer
 *     hidden_states.layer.N       [tokens, hidden]         behind layer N, before the final norm
 *     hidden_states.final_norm    [tokens, hidden]         of decoders
 *     attentions.N                [heads, tokens, tokens]  probabilities; hidden keys 0
 *     router.N.logits             [tokens, experts]        of layers with experts
 *     outputs.PATH                [tokens, columns]        of a module that gives rows for all tokens; those of its
 *                                                          heads are joined
 *
 * With several prompts each name ends in the prompt's number: "attentions.0.0", "attentions.0.1".
 */

enum {
    GRAFT_RECORD_HIDDEN_STATES = 1,
    GRAFT_RECORD_ATTENTIONS = 2,
    GRAFT_RECORD_ROUTER_LOGITS = 4,
    GRAFT_RECORD_OUTPUTS = 8 /* of modules */
};

/* The maximum number of dimensions of a recorded tensor. */
enum { GRAFT_RECORDED_RANK = 3 };

/* One tensor, f32. */
struct graft_recorded {
    uint32_t struct_size;
    int32_t rank;                       /* 1 to GRAFT_RECORDED_RANK */
    const char *name;                   /* "attentions.0" */
    int64_t shape[GRAFT_RECORDED_RANK]; /* [rank] */
    const float *data;                  /* row-major */
};

#define GRAFT_RECORDED_SIZE_1_0 GRAFT_END_OF(struct graft_recorded, data)

/* [any, one thread per model] Runs `n` prompts as one ragged batch and records `what` (GRAFT_RECORD_..., several joined
 * by |). Attention weights need an implementation that provides them: "eager" runs instead of "sdpa". It is an error if
 * another implementation has none, if an attention uses no implementation, or if router logits are asked for and the
 * model has no routers. The caller frees the recording. */
int graft_model_record(struct graft_model *model, const struct graft_prompt *prompts, size_t n, uint32_t what,
                       struct graft_recording **recording, struct graft_error *error);

/* [any, one thread per model] The same for an encoder (graft/host/encode.h). */
int graft_model_record_encoder(struct graft_model *model, const struct graft_encoder_prompt *prompts, size_t n,
                               uint32_t what, struct graft_recording **recording, struct graft_error *error);

/* [any] Tensor number `i`, owned by the recording, or NULL after the last. */
const struct graft_recorded *graft_recording_at(const struct graft_recording *recording, size_t i);

/* [any] Frees the recording and its tensors. Accepts NULL. */
void graft_recording_free(struct graft_recording *recording);

/* [any] Writes `n` tensors, in any order, as a safetensors file: recorded ones or the caller's own. `path` holds either
 * the old or the new content, never a part. Errors are GRAFT_ERROR_IO; a rank, shape, name or array that no tensor has
 * is GRAFT_ERROR_USAGE, and then no file is touched. */
int graft_recorded_write(const char *path, const struct graft_recorded *tensors, size_t n, struct graft_error *error);

/* --- Watching --- */

/*
 * Watching the modules of a model while it runs: whether they give numbers, and when each of them runs.
 *
 *     struct graft_watch_options options = {.struct_size = sizeof options, .check_finite = 1, .trace = "trace.json"};
 *     graft_model_watch(model, &options, &watch, &error);
 *     graft_model_generate(model, &prompt, 1, NULL, on_token, data, &error);
 *     graft_watch_end(watch, &error);
 */

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

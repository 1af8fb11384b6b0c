/* SPDX-License-Identifier: Apache-2.0 */
/* Observes a model while it runs: compares its modules with others, and measures, records and checks them. */
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
 * Comparing a model with replacements with the same model without them, or with another checkpoint of it: while the
 * model runs, each compared module and its original get the same input.
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

/* [any] Adds the differences of two arrays of `count` numbers to `found`, which starts as {0}. */
void graft_difference_add(struct graft_difference *found, const float *values, const float *reference, int64_t count);

/* [any] The largest difference that rounding explains: `tolerance` times the largest value of the reference, or
 * `tolerance` itself if that value is below 1 or not finite. The rounding errors of f32 grow with the numbers: logits
 * of 40 differ by 1e-4 between two correct orders of the same sums. */
double graft_difference_limit(const struct graft_difference *found, double tolerance);

/* A module that is compared: it is replaced, or has other weights. */
struct graft_compared {
    uint32_t struct_size;
    uint32_t reserved;
    const struct graft_named_module *module; /* the replacement (graft/host/modules.h) */
    const char *reason;                      /* why it is not compared; NULL: it is compared */
    int64_t calls;                           /* calls of the module so far */
    struct graft_difference outputs;         /* of all calls: replacement against original */
    double seconds;                          /* time of all calls of the replacement */
    double original_seconds;                 /* time of all calls of the original */
    int64_t bytes;                           /* bytes of the replacement's weights */
    int64_t original_bytes;                  /* bytes of the original's weights */
};

/* [load] Starts comparing the modules of `model` with those of `original`: the same model opened without replacements,
 * or another checkpoint of the same architecture, such as the one that a quantized checkpoint was made from. With
 * another checkpoint, modules that differ only in their weights are compared too. Different sizes are
 * GRAFT_ERROR_MODEL, with the name of the field. From now on each run of `model`, with at most `n_sequences` sequences,
 * also runs the originals. Both models outlive the comparison, and a model can be in only one comparison or profile at
 * a time. */
int graft_model_compare(struct graft_model *model, struct graft_model *original, int32_t n_sequences,
                        struct graft_comparison **comparison, struct graft_error *error);

/* [load] The i-th of the compared modules, with its current numbers; NULL after the last. Owned by the
 * comparison and valid until that is freed. */
const struct graft_compared *graft_comparison_at(const struct graft_comparison *comparison, size_t i);

/* [load] Ends the comparison. Accepts NULL. */
void graft_comparison_free(struct graft_comparison *comparison);

/* --- Profiles --- */

/*
 * Profiling: measures the time and the bytes of weights that each class takes while a model runs.
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
    /* NULL, or a model in which some modules are replaced: the profiled model has the originals, and only those modules
     * get rows that `counterpart` has replaced. */
    const struct graft_model *counterpart;
};

#define GRAFT_PROFILE_OPTIONS_SIZE_1_0 GRAFT_END_OF(struct graft_profile_options, counterpart)

/* Sums over all calls of a row's modules. Never grows. */
struct graft_profile_sum {
    int64_t calls;      /* number of calls */
    double seconds;     /* including the modules below */
    double own_seconds; /* without */
    int64_t bytes;      /* of weights read, including the modules below */
};

/* The modules of one class that replace one other class. */
struct graft_profile_row {
    uint32_t struct_size;
    uint32_t reserved;
    const char *class_name;                        /* the modules' class */
    const char *interface_id;                      /* theirs */
    const char *original_class;                    /* the class that they replace; NULL: none */
    const char *plugin;                            /* id of the plugin that brought the class; or NULL */
    int64_t modules;                               /* number of modules */
    struct graft_profile_sum phases[GRAFT_PHASES]; /* by GRAFT_PHASE_... */
};

/* [load] Starts profiling a loaded model, in GRAFT_PHASE_PROMPT. `options` may be NULL: every module. The model
 * outlives the profile, and takes part in one profile or comparison at a time. */
int graft_model_profile(struct graft_model *model, const struct graft_profile_options *options,
                        struct graft_profile **profile, struct graft_error *error);

/* [any, also from within graft_token_function] The phase that calls count for from now on. */
void graft_profile_set_phase(struct graft_profile *profile, int32_t phase);

/* [load] Stops profiling. The results stay available. */
void graft_profile_stop(struct graft_profile *profile);

/* [any] Row number `i`, owned by the profile; NULL after the last. */
const struct graft_profile_row *graft_profile_at(const struct graft_profile *profile, size_t i);

/* [any] Bytes of weights read in a phase by all profiled modules. */
int64_t graft_profile_bytes(const struct graft_profile *profile, int32_t phase);

/* [load] Stops and frees. Accepts NULL. */
void graft_profile_free(struct graft_profile *profile);

/* The size of a model's weights, and the memory that each token takes. */
struct graft_weight_use {
    uint32_t struct_size;
    uint32_t reserved;
    int64_t weights;         /* number of weights; for quantized ones, as if they were floats */
    int64_t bytes;           /* bytes of weights, including codes, scales and adapters */
    int64_t bytes_per_token; /* bytes read to generate a token: only the chosen experts, and one row of embeddings */
    int64_t cache_bytes_per_token; /* bytes that each token adds to the cache: keys and values, or what they are
                                      computed from */
    int64_t state_bytes_per_token; /* bytes of a sequence's states, which every token reads and writes */
    int64_t weights_per_token; /* number of weights that a token without logits is multiplied by, of experts only the
                                  chosen ones */
};

/* [any, one thread per model] Fills in `use`, whose struct_size is set, for a loaded model that generates text; this
 * runs one token. The model must not be in a profile or comparison. */
int graft_model_weight_use(struct graft_model *model, struct graft_weight_use *use, struct graft_error *error);

/* [any, one thread per model] Sets `bytes` to the mean number of bytes that attention reads from the cache for one
 * token, over the tokens `first` to `last` of a sequence, counted from 1. A token reads itself and earlier tokens, as
 * far back as the window of each layer allows. Requirements are those of graft_model_weight_use. */
int graft_model_cache_use(struct graft_model *model, int64_t first, int64_t last, double *bytes,
                          struct graft_error *error);

/* --- Recording --- */

/*
 * Recording a model's internals while it reads prompts: hidden states, attention weights, router logits. Modules are
 * found by interface, so replaced classes are recorded like the originals.
 *
 *     hidden_states.embeddings    [tokens, hidden]         input of the first layer
 *     hidden_states.layer.N       [tokens, hidden]         output of layer N, before the final norm
 *     hidden_states.final_norm    [tokens, hidden]         decoders only
 *     attentions.N                [heads, tokens, tokens]  probabilities; hidden keys 0
 *     router.N.logits             [tokens, experts]        layers with experts only
 *     outputs.PATH                [tokens, columns]        a module with a row for each token; the columns of its
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
 * Watching a model while it runs: checks that outputs are finite, and writes a trace of all calls.
 *
 *     struct graft_watch_options options = {.struct_size = sizeof options, .check_finite = 1, .trace = "trace.json"};
 *     graft_model_watch(model, &options, &watch, &error);
 *     graft_model_generate(model, &prompt, 1, NULL, on_token, data, &error);
 *     graft_watch_end(watch, &error);
 */

struct graft_watch_options {
    uint32_t struct_size;
    /* 1: an infinity or NaN in the output of a module is an error (GRAFT_ERROR_VERIFY) that names the innermost module
     * and the position in its output. */
    int32_t check_finite;
    /* A file that graft_watch_end writes: all calls of modules, in Chrome's trace event format; NULL: none. */
    const char *trace;
};

#define GRAFT_WATCH_OPTIONS_SIZE_1_0 GRAFT_END_OF(struct graft_watch_options, trace)

/* [load] Starts watching a loaded model, which outlives the watch and can be in only one watch, profile or comparison
 * at a time. Results do not change, but modules that would otherwise run fused run one after another. `options` is
 * copied, except for its strings, which must stay valid until the end. */
int graft_model_watch(struct graft_model *model, const struct graft_watch_options *options, struct graft_watch **watch,
                      struct graft_error *error);

/* [load] Ends the watch and writes the trace, also after a run that failed. Accepts NULL. A trace that cannot be
 * written is GRAFT_ERROR_IO; the watch is freed all the same. */
int graft_watch_end(struct graft_watch *watch, struct graft_error *error);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
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
#ifndef GRAFT_HOST_PROFILE_H
#define GRAFT_HOST_PROFILE_H

#include <stddef.h>
#include <stdint.h>

#include "graft/error.h"

#ifdef __cplusplus
extern "C" {
#endif

struct graft_model;

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
    double seconds;     /* with the modules below */
    double own_seconds; /* without */
    int64_t bytes;      /* of weights read, with the modules below */
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

struct graft_profile;

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

#ifdef __cplusplus
}
#endif

#endif

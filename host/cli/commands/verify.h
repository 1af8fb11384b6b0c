/* SPDX-License-Identifier: Apache-2.0 */
/* The results of `verify`, for the files that compare and the file that reports. */
#ifndef GRAFT_CLI_COMMANDS_VERIFY_H
#define GRAFT_CLI_COMMANDS_VERIFY_H

#include "cli/options.h"
#include "cli/prompts.h"
#include "graft/host/graft.h"
#include "graft/host/observe.h"

/* Default tolerance, relative to the largest logit (graft_difference_limit). */
#define GRAFT_VERIFY_TOLERANCE 5e-5

struct graft_verification {
    struct graft_model *model;
    const char *against;         /* the directory of the original; NULL: the model's own */
    struct graft_library *plain; /* the library of the original; NULL until it is opened */
    struct graft_model *original;
    struct graft_prompts prompts;
    int32_t *sample; /* generated ids that serve as the prompt if none was given */
    struct graft_comparison *modules;
    struct graft_difference logits; /* over `positions` */
    int64_t positions;
    double tolerance;   /* below 0: logits are reported, not judged */
    int64_t new_tokens; /* per sequence */
    int same_ids;
    struct graft_ids *ids; /* [prompts.count]; NULL if no tokens were wanted */
    struct graft_ids *original_ids;
};

/* The largest difference of logits that passes. Call it only if `tolerance` is not below 0. */
static inline double graft_verification_limit(const struct graft_verification *run) {
    return graft_difference_limit(&run->logits, run->tolerance);
}

/* Whether the logits are within the tolerance, and the ids the same. */
static inline int graft_verification_passed(const struct graft_verification *run) {
    return run->same_ids && (run->tolerance < 0.0 || run->logits.difference <= graft_verification_limit(run));
}

/* Whether both models generate. Otherwise they are encoders, without greedy ids. */
static inline int graft_verification_generates(const struct graft_verification *run) {
    return graft_model_task(run->model) == GRAFT_TASK_CAUSAL_LM;
}

/* The outputs that are compared: "logits", or "hidden_states" for a model without a head. */
static inline const char *graft_verification_outputs(const struct graft_verification *run) {
    return graft_model_task(run->model) == GRAFT_TASK_FEATURES ? "hidden_states" : "logits";
}

/* Returns `status`, the status of a step with the original model. If it failed, sets `error` to `failure` with a note
 * that the original failed. */
int graft_verify_original(int status, const struct graft_error *failure, struct graft_error *error);

/* Compares the outputs of two encoders. */
int graft_verify_encoder(struct graft_verification *run, struct graft_error *error);

/* Prints the result to stdout, as text or as JSON. */
int graft_verify_report(const struct graft_options *options, const struct graft_verification *run,
                        struct graft_error *error);

#endif

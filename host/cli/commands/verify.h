/* SPDX-License-Identifier: Apache-2.0 */
/* What `verify` found: shared by its two units. */
#ifndef GRAFT_CLI_COMMANDS_VERIFY_H
#define GRAFT_CLI_COMMANDS_VERIFY_H

#include "cli/options.h"
#include "cli/prompts.h"
#include "graft/host/graft.h"
#include "graft/host/observe.h"

/* Relative to the largest logit: graft_difference_limit. */
#define GRAFT_VERIFY_TOLERANCE 5e-5

struct graft_verification {
    struct graft_model *model;
    const char *against;         /* the directory of the original; NULL: the model's own */
    struct graft_library *plain; /* of the original; NULL until it is opened */
    struct graft_model *original;
    struct graft_prompts prompts;
    int32_t *sample; /* the ids of the prompt when none was given */
    struct graft_comparison *modules;
    struct graft_difference logits; /* over `positions` */
    int64_t positions;
    double tolerance;   /* below 0: logits are reported, not judged */
    int64_t new_tokens; /* of each sequence */
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

/* Whether both models generate; else they are encoders, and there are no greedy ids. */
static inline int graft_verification_generates(const struct graft_verification *run) {
    return graft_model_task(run->model) == GRAFT_TASK_CAUSAL_LM;
}

/* What is compared from end to end: "logits", or "hidden_states" of a model without a head. */
static inline const char *graft_verification_outputs(const struct graft_verification *run) {
    return graft_model_task(run->model) == GRAFT_TASK_FEATURES ? "hidden_states" : "logits";
}

/* `status`, that of a step of the original's, whose `failure` becomes `error` with the words that say so. */
int graft_verify_original(int status, const struct graft_error *failure, struct graft_error *error);

/* Compares what two encoders give. */
int graft_verify_encoder(struct graft_verification *run, struct graft_error *error);

/* Prints the result to stdout, as text or as JSON. */
int graft_verify_report(const struct graft_options *options, const struct graft_verification *run,
                        struct graft_error *error);

#endif

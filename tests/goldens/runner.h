/* SPDX-License-Identifier: Apache-2.0 */
/* Loads a model, and computes its logits in several ways. Every failure ends the program. */
#ifndef GRAFT_GOLDENS_RUNNER_H
#define GRAFT_GOLDENS_RUNNER_H

#include "library/library.h"

struct runner {
    struct graft_library *library;
    struct graft_model *model;
    size_t vocab_size;
};

/* Loads the model of a directory, with the plugins of `plugins`: a directory, several divided by ':', or NULL. */
void runner_open(struct runner *runner, const char *directory, const char *plugins, int32_t precision);
void runner_close(struct runner *runner);

/* Loads it with a fusion_config, given as text. */
void runner_open_fused(struct runner *runner, const char *directory, const char *plugins, int32_t precision,
                       const char *fusion_config);

/* Loads it with options. */
void runner_open_with(struct runner *runner, const char *directory, const char *plugins,
                      const struct graft_model_options *options);

/* Loads it with only some of the plugins. */
void runner_open_by(struct runner *runner, const char *directory, const char *plugins,
                    const struct graft_library_options *wanted, const struct graft_model_options *options);

/* A session with `slots` sequences; the caller frees it with graft_session_free. */
struct graft_session *runner_session(const struct runner *runner, int32_t slots);

/* Feeds `count` ids to slot 0; the returned logits are valid until the session's next step. */
const float *runner_step(struct graft_session *session, const int32_t *ids, size_t count, enum graft_logits_rows which);

/* The logits of all positions, [count, vocab_size]; the caller frees them. */
float *runner_logits(const struct runner *runner, const int32_t *ids, size_t count);

/* The logits after the prompt and after each of the `n` tokens fed after it: [n + 1, vocab_size]; the caller frees
 * them. */
float *runner_continue(const struct runner *runner, const int32_t *ids, size_t count, const int32_t *next, size_t n);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Generating text: how, and from prompts that are all there. */
#ifndef GRAFT_GENERATE_GENERATE_H
#define GRAFT_GENERATE_GENERATE_H

#include "base/json.h"
#include "generate/session.h"
#include "graft/host/generation.h"
#include "graft/host/sequences.h"

enum { GRAFT_MAX_EOS = 32 };

/* How to generate, and when a sequence ends. */
struct graft_generation_settings {
    struct graft_generation generation;
    int32_t eos[GRAFT_MAX_EOS]; /* ids that end a sequence */
    int32_t n_eos;
};

/* [load] Defaults, then generation_config.json if the directory has one, then eos_token_id of config.json (or its
 * text_config) if that one says nothing of it. */
int graft_generation_settings_read(const char *directory, const graft_json *config,
                                   struct graft_generation_settings *settings, struct graft_error *error);

/* Called for each new token, in order within a sequence (graft_generated_function). Any status but GRAFT_OK stops the
 * generation. */
typedef int (*graft_token_sink)(void *data, const struct graft_sequence_token *token, struct graft_error *error);

struct graft_run_options;

/* [forward] Feeds the prompts, each under the adapter (as in graft_batch) that goes with it, to `session`, whose slots
 * are all empty, and generates. An eos id is told to the sink, too. */
int graft_generate(struct graft_session *session, const struct graft_run_options *options,
                   const struct graft_ids_view *prompts, const int32_t *adapters, size_t n,
                   const struct graft_generation_settings *settings, graft_token_sink sink, void *data,
                   struct graft_error *error);

#endif

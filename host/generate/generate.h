/* SPDX-License-Identifier: Apache-2.0 */
/* Generating text: how, and from prompts that are all there. */
#ifndef GRAFT_GENERATE_GENERATE_H
#define GRAFT_GENERATE_GENERATE_H

#include "generate/named_processors.h"
#include "generate/session.h"
#include "generate/stop_strings.h"
#include "graft/config.h"
#include "graft/host/generate.h"
#include "graft/host/sequences.h"

/* How to generate, and when a sequence ends. */
struct graft_generation_settings {
    struct graft_generation generation;
    struct graft_id_list eos;       /* ids that end a sequence */
    const char *file;               /* where they are from: the name of a config */
    int32_t decoder_start;          /* decoder_start_token_id, or bos_token_id in its place; -1: neither is set */
    struct graft_token_texts texts; /* for stop strings; and logits processors of plugins: both the caller's */
    struct graft_named_processors processors;
    struct graft_generation_fields *fields; /* what lists of both point to */
};

/* [load] Defaults, then generation_config.json (NULL: there is none, and config.json is in its place); then
 * eos_token_id of config.json (or its text_config) if the former says nothing of it. The names of both files outlive
 * the settings, which the caller finishes, also after an error. */
int graft_generation_settings_read(const struct graft_config *generation, const struct graft_config *config,
                                   struct graft_generation_settings *settings, struct graft_error *error);
void graft_generation_settings_finish(struct graft_generation_settings *settings);

/* Called for each new token, in order within a sequence (graft_generated_function). Any status but GRAFT_OK stops the
 * generation. */
typedef int (*graft_token_sink)(void *data, const struct graft_sequence_token *token, struct graft_error *error);

struct graft_run_options;

/* [any] How many slots of a session each prompt takes with these settings. */
size_t graft_generate_slots(const struct graft_generation *generation);

/* [forward] Feeds the prompts, each under the adapter (as
 * in graft_batch) that goes with it, to `session`, whose slots are all empty, and generates. An eos id is told to the
 * sink, too. */
int graft_generate(struct graft_session *session, const struct graft_run_options *options,
                   const struct graft_ids_view *prompts, const int32_t *adapters, size_t n,
                   const struct graft_generation_settings *settings, graft_token_sink sink, void *data,
                   struct graft_error *error);

#endif

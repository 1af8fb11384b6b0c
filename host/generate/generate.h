/* SPDX-License-Identifier: Apache-2.0 */
/* Generation settings, and generating from a fixed set of prompts. */
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
    struct graft_id_list eos; /* ids that end a sequence */
    const char *file;         /* name of the config that they come from */
    int32_t decoder_start;    /* decoder_start_token_id, or bos_token_id in its place; -1: neither is set */
    struct graft_token_texts
        texts; /* texts of tokens, for stop strings, and plugins' logits processors; both belong to the caller */
    struct graft_named_processors processors;
    struct graft_generation_fields *fields; /* owner of the lists of both */
};

/* [load] Sets defaults, then reads generation_config.json (NULL: there is none, and config.json is read instead), then
 * eos_token_id of config.json (or its text_config) if the former does not set it. The names of both files must outlive
 * the settings, which the caller finishes, even on failure. */
int graft_generation_settings_read(const struct graft_config *generation, const struct graft_config *config,
                                   struct graft_generation_settings *settings, struct graft_error *error);
void graft_generation_settings_finish(struct graft_generation_settings *settings);

/* Called for each new token, in order within a sequence (graft_generated_function). Any status but GRAFT_OK stops the
 * generation. */
typedef int (*graft_token_sink)(void *data, const struct graft_sequence_token *token, struct graft_error *error);

struct graft_run_options;

/* [any] How many slots of a session each prompt needs with these settings. */
size_t graft_generate_slots(const struct graft_generation *generation);

/* [forward] Feeds the prompts, each with its adapter (as in graft_batch), to `session`, all of whose slots are empty,
 * and generates. The sink also gets the eos id. */
int graft_generate(struct graft_session *session, const struct graft_run_options *options,
                   const struct graft_ids_view *prompts, const int32_t *adapters, size_t n,
                   const struct graft_generation_settings *settings, graft_token_sink sink, void *data,
                   struct graft_error *error);

#endif

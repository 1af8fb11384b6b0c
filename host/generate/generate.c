/* SPDX-License-Identifier: Apache-2.0 */
/* Generates from a fixed set of prompts: a run to which no sequence is added later. */
#include "generate/generate.h"

#include "generate/run.h"
#include "generate/team.h"

/* The receiver of new tokens. */
struct sink {
    graft_token_sink call;
    void *data;
};

/* The number of a result. Results of one prompt are numbered consecutively. */
static int64_t number_of(const struct graft_sequence *sequence) {
    return sequence->number * (int64_t)sequence->n_results + (int64_t)sequence->result;
}

static int on_token(void *data, const struct graft_sequence *sequence, int32_t id, int32_t end, const float *logits,
                    struct graft_error *error) {
    const struct sink *sink = data;
    const struct graft_sequence_token token = {
        .struct_size = sizeof token, .id = id, .sequence = number_of(sequence), .end = end, .logits = logits};
    int status = sink->call(sink->data, &token, error);
    return status == GRAFT_OK && end == GRAFT_SEQUENCE_OUT_OF_POSITIONS
               ? graft_error_set(error, GRAFT_ERROR_USAGE, "prompt",
                                 "sequence %lld has %zu tokens, but the model has positions for %lld",
                                 (long long)sequence->number, sequence->count, (long long)sequence->most)
               : status;
}

/* How many results a sequence has: with beams several; results that are drawn are sequences of their own. */
static size_t results_of(const struct graft_generation *generation) {
    return generation->num_return_sequences > 1 ? (size_t)generation->num_return_sequences : 1;
}

static size_t copies_of(const struct graft_generation *generation) {
    return generation->num_beams > 1 ? 1 : results_of(generation);
}

size_t graft_generate_slots(const struct graft_generation *generation) {
    return graft_team_size(generation) * copies_of(generation);
}

static int add(struct graft_run *run, const struct graft_ids_view *prompt, int32_t adapter, size_t number,
               const struct graft_generation_settings *settings, struct graft_error *error) {
    size_t n_stops = settings->generation.ignore_eos ? 0 : settings->eos.n;
    struct graft_sequence *sequence =
        graft_sequence_create(prompt, &settings->generation, settings->eos.ids, n_stops, number);
    if (sequence == NULL) {
        return graft_fail_memory(error, "generation");
    }
    sequence->adapter = adapter;
    sequence->texts = settings->texts;
    graft_sequence_use_processors(sequence, &settings->processors);
    sequence->n_results = settings->generation.num_beams > 1 ? results_of(&settings->generation) : 1;
    int status = graft_run_add(run, sequence, error);
    if (status != GRAFT_OK) {
        graft_sequence_free(sequence);
    }
    return status;
}

int graft_generate(struct graft_session *session, const struct graft_run_options *options,
                   const struct graft_ids_view *prompts, const int32_t *adapters, size_t n,
                   const struct graft_generation_settings *settings, graft_token_sink sink, void *data,
                   struct graft_error *error) {
    struct sink to = {sink, data};
    struct graft_run *run = NULL;
    const size_t copies = copies_of(&settings->generation);
    int status = graft_run_create(session, options, &run, error);
    for (size_t i = 0; i < n * copies && status == GRAFT_OK && settings->generation.max_new_tokens != 0; i++) {
        status = add(run, &prompts[i / copies], adapters[i / copies], i, settings, error);
    }
    while (status == GRAFT_OK && graft_run_count(run) > 0) {
        status = graft_run_step(run, on_token, &to, error);
    }
    graft_run_free(run);
    return status;
}

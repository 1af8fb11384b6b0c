/* SPDX-License-Identifier: Apache-2.0 */
#include "generate/sequence.h"

#include <string.h>

#include "base/alloc.h"
#include "generate/team.h"
#include "graft/host/sequences.h"

struct graft_sequence *graft_sequence_create(const struct graft_ids_view *prompt,
                                             const struct graft_generation *generation, const int32_t *stops,
                                             size_t n_stops, size_t draws) {
    struct graft_sequence *sequence = graft_alloc(1, sizeof *sequence);
    if (sequence == NULL) {
        return NULL;
    }
    *sequence = (struct graft_sequence){
        .slot = -1,
        .ids = graft_alloc(prompt->count + 1, sizeof *sequence->ids),
        .count = prompt->count,
        .capacity = prompt->count + 1,
        .prompt = prompt->count,
        .reading = prompt->count,
        .images = prompt->images,
        .n_images = prompt->n_images,
        .source = graft_alloc(prompt->n_source + 1, sizeof *sequence->source),
        .n_source = prompt->n_source,
        .generation = *generation,
        .fields = graft_generation_fields_create(),
        .n_results = 1,
        .stops = graft_alloc(n_stops + 1, sizeof *sequence->stops),
        .n_stops = n_stops,
    };
    if (sequence->ids == NULL || sequence->source == NULL || sequence->stops == NULL || sequence->fields == NULL ||
        graft_generation_own(&sequence->generation, sequence->fields, NULL) != GRAFT_OK) {
        graft_sequence_free(sequence);
        return NULL;
    }
    memcpy(sequence->ids, prompt->ids, prompt->count * sizeof *sequence->ids);
    if (prompt->n_source > 0) {
        memcpy(sequence->source, prompt->source, prompt->n_source * sizeof *sequence->source);
    }
    if (n_stops > 0) {
        memcpy(sequence->stops, stops, n_stops * sizeof *stops);
    }
    if (generation->max_new_tokens < 0) {
        sequence->generation.max_new_tokens = generation->max_length - (int64_t)prompt->count;
    }
    graft_sampler_state_init(&sequence->state, generation->seed, draws);
    return sequence;
}

void graft_sequence_free(struct graft_sequence *sequence) {
    if (sequence != NULL) {
        graft_team_leave(sequence);
        graft_processor_states_finish(&sequence->states);
        graft_free(sequence->logits);
        graft_free(sequence->ids);
        graft_free(sequence->source);
        graft_free(sequence->stops);
        graft_generation_fields_free(sequence->fields);
        graft_free(sequence);
    }
}

void graft_sequence_use_processors(struct graft_sequence *sequence, const struct graft_named_processors *processors) {
    const struct graft_generation *generation = &sequence->generation;
    struct graft_named_processor *items = sequence->states.processors.items;
    sequence->states.processors = *processors;
    for (size_t i = 0; i < generation->n_processors && generation->n_processors <= processors->n; i++) {
        const struct graft_processor_choice *choice = &generation->processors[i];
        struct graft_named_processor *item = &items[processors->n - generation->n_processors + i];
        item->name = choice->processor != NULL && choice->name != NULL ? choice->name : item->name;
        item->setting = choice->setting != NULL ? choice->setting : "";
    }
}

int graft_sequence_reserve(struct graft_sequence *sequence, size_t more, struct graft_error *error) {
    size_t wanted = sequence->count + more;
    while (sequence->capacity < wanted) {
        if (graft_grow(&sequence->ids, &sequence->capacity, sequence->capacity, sizeof *sequence->ids) != 0) {
            return graft_fail_memory(error, "generation");
        }
    }
    return GRAFT_OK;
}

size_t graft_sequence_left(const struct graft_sequence *sequence) {
    return (size_t)sequence->generation.max_new_tokens - (sequence->count - sequence->prompt);
}

struct graft_choice graft_sequence_choice(const struct graft_sequence *sequence) {
    return (struct graft_choice){
        .generation = &sequence->generation,
        .ids = sequence->ids,
        .count = sequence->count,
        .prompt = sequence->prompt,
        .source = sequence->source,
        .n_source = sequence->n_source,
        .longest = sequence->prompt + (size_t)sequence->generation.max_new_tokens,
        .eos = {sequence->stops, sequence->n_stops},
        .named = &sequence->states,
    };
}

/* Whether the last token ends the sequence, by its id or because a stop string ends in it. */
static int check_stops(const struct graft_sequence *sequence, int *is_stopped, struct graft_error *error) {
    const struct graft_generation *generation = &sequence->generation;
    *is_stopped = 0;
    for (size_t i = 0; i < sequence->n_stops && !*is_stopped; i++) {
        *is_stopped = sequence->stops[i] == sequence->ids[sequence->count - 1];
    }
    return generation->n_stop_strings > 0 && !*is_stopped
               ? graft_stop_strings_check(&sequence->texts, generation->stop_strings, generation->n_stop_strings,
                                          sequence->ids, sequence->count, is_stopped, error)
               : GRAFT_OK;
}

/* Whether the sequence ends by its length. The last token needs no position, since nothing follows it. */
static int32_t end_by_length(const struct graft_sequence *sequence) {
    if (graft_sequence_left(sequence) == 0) {
        return GRAFT_SEQUENCE_COMPLETE;
    }
    return sequence->most > 0 && sequence->count > (size_t)sequence->most ? GRAFT_SEQUENCE_OUT_OF_POSITIONS
                                                                          : GRAFT_SEQUENCE_RUNNING;
}

int graft_sequence_find_end(struct graft_sequence *sequence, int32_t id, int32_t *end, struct graft_error *error) {
    int is_stopped = 0;
    sequence->ids[sequence->count++] = id;
    int status = check_stops(sequence, &is_stopped, error);
    *end = is_stopped ? GRAFT_SEQUENCE_STOPPED : end_by_length(sequence);
    sequence->count--;
    return status;
}

int graft_sequence_append(struct graft_sequence *sequence, int32_t id, int32_t *end, struct graft_error *error) {
    int status = graft_sequence_find_end(sequence, id, end, error);
    if (status == GRAFT_OK) {
        status = graft_processor_states_accept(&sequence->states, id, error);
    }
    sequence->count += status == GRAFT_OK;
    return status;
}

int graft_sequence_start_processors(struct graft_sequence *sequence, int64_t vocab_size, struct graft_error *error) {
    const struct graft_logits_sequence begins = {
        .struct_size = sizeof begins,
        .ids = sequence->ids,
        .count = (int64_t)sequence->prompt,
        .vocab_size = vocab_size,
        .eos_ids = sequence->stops,
        .n_eos_ids = (int64_t)sequence->n_stops,
        .directory = sequence->states.processors.directory,
    };
    return graft_processor_states_start(&sequence->states, &begins, sequence->ids + sequence->prompt,
                                        sequence->count - sequence->prompt, error);
}

size_t graft_sequence_alike(const struct graft_sequence *a, const struct graft_sequence *b, size_t most) {
    size_t n = 0;
    while (n < most && n < a->count && n < b->count && a->ids[n] == b->ids[n]) {
        n++;
    }
    return n;
}

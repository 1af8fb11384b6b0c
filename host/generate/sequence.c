/* SPDX-License-Identifier: Apache-2.0 */
#include "generate/sequence.h"

#include <string.h>

#include "base/alloc.h"
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
        .ids = graft_alloc(prompt->count, sizeof *sequence->ids),
        .count = prompt->count,
        .capacity = prompt->count,
        .prompt = prompt->count,
        .reading = prompt->count,
        .images = prompt->images,
        .n_images = prompt->n_images,
        .generation = *generation,
        .stops = graft_alloc(n_stops + 1, sizeof *sequence->stops),
        .n_stops = n_stops,
    };
    if (sequence->ids == NULL || sequence->stops == NULL) {
        graft_sequence_free(sequence);
        return NULL;
    }
    memcpy(sequence->ids, prompt->ids, prompt->count * sizeof *sequence->ids);
    if (n_stops > 0) {
        memcpy(sequence->stops, stops, n_stops * sizeof *stops);
    }
    graft_sampler_state_init(&sequence->state, generation->seed, draws);
    return sequence;
}

void graft_sequence_free(struct graft_sequence *sequence) {
    if (sequence != NULL) {
        graft_free(sequence->ids);
        graft_free(sequence->stops);
        graft_free(sequence);
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

static int stops_at(const struct graft_sequence *sequence, int32_t id) {
    for (size_t i = 0; i < sequence->n_stops; i++) {
        if (sequence->stops[i] == id) {
            return 1;
        }
    }
    return 0;
}

/* The last token needs no position: nothing comes after it. */
int32_t graft_sequence_append(struct graft_sequence *sequence, int32_t id) {
    sequence->ids[sequence->count++] = id;
    if (stops_at(sequence, id)) {
        return GRAFT_SEQUENCE_STOPPED;
    }
    if (graft_sequence_left(sequence) == 0) {
        return GRAFT_SEQUENCE_COMPLETE;
    }
    return sequence->most > 0 && sequence->count > (size_t)sequence->most ? GRAFT_SEQUENCE_OUT_OF_POSITIONS : 0;
}

size_t graft_sequence_alike(const struct graft_sequence *a, const struct graft_sequence *b, size_t most) {
    size_t n = 0;
    while (n < most && n < a->count && n < b->count && a->ids[n] == b->ids[n]) {
        n++;
    }
    return n;
}

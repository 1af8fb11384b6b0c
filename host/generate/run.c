/* SPDX-License-Identifier: Apache-2.0 */
/* The sequences of a run: they are added, wait for a slot and for memory, and are removed. */
#include "generate/run.h"

#include "base/alloc.h"
#include "generate/run_parts.h"

int graft_run_create(struct graft_session *session, const struct graft_run_options *options, struct graft_run **run,
                     struct graft_error *error) {
    struct graft_run *result = graft_alloc(1, sizeof *result);
    size_t stages = (size_t)graft_session_stages(session);
    if (result == NULL) {
        return graft_fail_memory(error, "generation");
    }
    result->session = session;
    result->options = *options;
    result->failed = -1;
    stages = options->has_teams ? 1 : stages; /* the members of a team are in one group */
    result->n_groups = stages < (size_t)options->slots ? stages : (size_t)options->slots;
    result->slots = graft_alloc((size_t)options->slots, sizeof *result->slots);
    result->groups = graft_alloc(result->n_groups, sizeof *result->groups);
    int status = result->slots == NULL || result->groups == NULL
                     ? graft_fail_memory(error, "generation")
                     : graft_sampler_create(options->vocab_size, &result->sampler, error);
    if (status != GRAFT_OK) {
        graft_run_free(result);
        return status;
    }
    *run = result;
    return GRAFT_OK;
}

void graft_run_free(struct graft_run *run) {
    if (run == NULL) {
        return;
    }
    for (size_t i = 0; i < run->n; i++) {
        if (run->sequences[i]->slot < 0) {
            graft_sequence_free(run->sequences[i]);
        }
    }
    for (int32_t i = 0; i < run->options.slots && run->slots != NULL; i++) {
        graft_sequence_free(run->slots[i]);
    }
    for (size_t i = 0; i < run->n_groups && run->groups != NULL; i++) {
        graft_free(run->groups[i].feeds);
    }
    graft_free(run->sequences);
    graft_free(run->slots);
    graft_free(run->groups);
    graft_sampler_free(run->sampler);
    graft_choices_finish(&run->choices);
    graft_free(run);
}

/* The most tokens whose keys and values the sequence keeps: its last token is not fed. Source tokens count like the
 * sequence's own, which is more than they need. */
static int64_t most_fed(const struct graft_sequence *sequence) {
    int64_t prompt = (int64_t)sequence->prompt;
    int64_t more = sequence->generation.max_new_tokens;
    int64_t most = more < INT64_MAX / 4 - prompt ? prompt + more : INT64_MAX / 4;
    most = sequence->most > 0 && sequence->most < most ? sequence->most : most;
    return most + (int64_t)sequence->n_source;
}

/* The most bytes that the sequence may keep. */
static int64_t bytes_of(const struct graft_run *run, const struct graft_sequence *sequence) {
    int64_t tokens = most_fed(sequence);
    int64_t each = run->options.token_bytes;
    int64_t all = each == 0 || tokens <= INT64_MAX / 4 / each ? tokens * each : INT64_MAX / 4;
    return all + run->options.sequence_bytes;
}

static int check_prompt(const struct graft_run *run, const struct graft_sequence *sequence, struct graft_error *error) {
    if (sequence->prompt == 0) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "prompt", "the sequence has no tokens");
    }
    for (size_t i = 0; i < sequence->prompt; i++) {
        if (sequence->ids[i] < 0 || sequence->ids[i] >= run->options.vocab_size) {
            return graft_error_set(error, GRAFT_ERROR_USAGE, "prompt",
                                   "token id %ld is outside the model's vocabulary of %lld", (long)sequence->ids[i],
                                   (long long)run->options.vocab_size);
        }
    }
    if (sequence->generation.max_new_tokens <= 0) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "prompt",
                               "the prompt has %zu tokens, but max_length allows %lld, new ones included",
                               sequence->prompt, (long long)sequence->generation.max_length);
    }
    if (sequence->most > 0 && sequence->prompt > (size_t)sequence->most) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "prompt",
                               "the prompt has %zu tokens, but the model has positions for %lld", sequence->prompt,
                               (long long)sequence->most);
    }
    if (run->options.bytes > 0 && sequence->bytes > run->options.bytes) {
        return graft_error_set(
            error, GRAFT_ERROR_USAGE, "prompt",
            "a sequence of up to %lld tokens needs %lld bytes of memory for its state, but there is room for %lld",
            (long long)most_fed(sequence), (long long)sequence->bytes, (long long)run->options.bytes);
    }
    return GRAFT_OK;
}

/* Checks that the list has room, and that there are slots and memory for a whole team. */
static int check_team(struct graft_run *run, const struct graft_sequence *lead, size_t n, struct graft_error *error) {
    if (n > (size_t)run->options.slots) {
        return graft_error_set(
            error, GRAFT_ERROR_USAGE, lead->generation.num_beams > 1 ? "num_beams" : "guidance_scale",
            "needs %zu sequences for each prompt, but at most %d may run at once", n, (int)run->options.slots);
    }
    if (n > 1 && run->options.bytes > 0 && lead->bytes > run->options.bytes / (int64_t)n) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "prompt",
                               "%zu sequences of up to %lld tokens need %lld bytes of memory each for their state, but "
                               "there is room for %lld",
                               n, (long long)most_fed(lead), (long long)lead->bytes, (long long)run->options.bytes);
    }
    return GRAFT_OK;
}

static void enlist(struct graft_run *run, struct graft_sequence *sequence, int64_t number) {
    sequence->number = number;
    run->sequences[run->n++] = sequence;
}

int graft_run_add(struct graft_run *run, struct graft_sequence *sequence, struct graft_error *error) {
    const size_t n = graft_team_size(&sequence->generation);
    sequence->most = run->options.max_positions;
    sequence->bytes = run->options.bytes > 0 ? bytes_of(run, sequence) : 0;
    int status = check_prompt(run, sequence, error);
    if (status == GRAFT_OK) {
        status = check_team(run, sequence, n, error);
    }
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        if (graft_grow(&run->sequences, &run->capacity, run->n + i, sizeof *run->sequences) != 0) {
            status = graft_fail_memory(error, "generation");
        }
    }
    if (status == GRAFT_OK) {
        status = graft_team_create(sequence, run->options.vocab_size, error);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    run->prompt_tokens += (int64_t)sequence->prompt;
    enlist(run, sequence, run->next_number);
    for (size_t i = 1; i < n; i++) {
        struct graft_sequence *member = sequence->team->members[i];
        member->most = sequence->most;
        member->bytes = sequence->bytes;
        enlist(run, member, run->next_number);
    }
    run->next_number++;
    return GRAFT_OK;
}

void graft_run_end(struct graft_sequence *sequence) {
    sequence->stage = GRAFT_SEQUENCE_IS_OVER;
    sequence->images = NULL; /* the caller may now free the images and the settings that processors were given */
    graft_processor_states_finish(&sequence->states);
    sequence->count = sequence->fed < sequence->count ? sequence->fed : sequence->count;
}

/* Removes finished sequences. One that never had a slot keeps nothing. */
static void drop_ended(struct graft_run *run) {
    size_t kept = 0;
    for (size_t i = 0; i < run->n; i++) {
        struct graft_sequence *sequence = run->sequences[i];
        if (sequence->stage != GRAFT_SEQUENCE_IS_OVER) {
            run->sequences[kept++] = sequence;
        } else if (sequence->slot < 0) {
            graft_sequence_free(sequence);
        }
    }
    run->n = kept;
}

int graft_run_remove(struct graft_run *run, int64_t number) {
    int found = -1;
    for (size_t i = 0; i < run->n; i++) {
        if (run->sequences[i]->number == number) {
            graft_run_end(run->sequences[i]);
            found = 0;
        }
    }
    drop_ended(run);
    return found;
}

size_t graft_run_count(const struct graft_run *run) {
    size_t n = 0;
    for (size_t i = 0; i < run->n; i++) {
        n += (size_t)graft_team_leads(run->sequences[i]);
    }
    return n;
}

void graft_run_get_counts(const struct graft_run *run, struct graft_sequences_counts *counts) {
    counts->forwards += run->counts.forwards;
    counts->prompt_tokens += run->counts.prompt_tokens;
    counts->shared_tokens += run->counts.shared_tokens;
    counts->cache_bytes += run->bytes;
    counts->failed = run->failed;
}

/* Empties a slot. With a budget its memory is freed as well: the next sequence in the slot has its own share. */
static int clear_slot(struct graft_run *run, int32_t slot, struct graft_error *error) {
    struct graft_sequence *sequence = run->slots[slot];
    int64_t reached;
    if (sequence != NULL) {
        run->slots[slot] = NULL;
        run->bytes -= sequence->bytes;
        graft_sequence_free(sequence);
    }
    if (run->options.bytes > 0) {
        graft_session_release(run->session, slot);
        return GRAFT_OK;
    }
    return graft_session_rewind(run->session, slot, 0, &reached, error);
}

/* A free slot, or else the slot of the sequence that finished first; -1: all slots are in use. */
static int32_t find_slot(const struct graft_run *run, int only_over) {
    int32_t found = -1;
    for (int32_t i = 0; i < run->options.slots; i++) {
        const struct graft_sequence *sequence = run->slots[i];
        if (sequence == NULL && !only_over) {
            return i;
        }
        if (sequence != NULL && sequence->stage == GRAFT_SEQUENCE_IS_OVER &&
            (found < 0 || sequence->number < run->slots[found]->number)) {
            found = i;
        }
    }
    return found;
}

/* Frees the memory of finished sequences, oldest first, until there is enough. */
static int make_room(struct graft_run *run, int64_t bytes, struct graft_error *error) {
    int status = GRAFT_OK;
    while (status == GRAFT_OK && run->options.bytes > 0 && bytes > run->options.bytes - run->bytes) {
        int32_t slot = find_slot(run, 1);
        if (slot < 0) {
            break;
        }
        status = clear_slot(run, slot, error);
    }
    return status;
}

/* Whether a whole team can be admitted at once: a team that waited for its own members would wait forever. */
static int has_room_for_team(const struct graft_run *run, const struct graft_sequence *lead) {
    const size_t n = lead->team->n;
    size_t slots = 0;
    int64_t bytes = run->options.bytes;
    for (int32_t i = 0; i < run->options.slots; i++) {
        const struct graft_sequence *sequence = run->slots[i];
        const int is_free = sequence == NULL || sequence->stage == GRAFT_SEQUENCE_IS_OVER;
        slots += (size_t)is_free;
        bytes -= is_free ? 0 : sequence->bytes;
    }
    return slots >= n && (run->options.bytes == 0 || lead->bytes <= bytes / (int64_t)n);
}

int graft_run_seat(struct graft_run *run, struct graft_sequence *sequence, struct graft_error *error) {
    int status = make_room(run, sequence->bytes, error);
    const int32_t slot = find_slot(run, 0);
    if (status != GRAFT_OK || slot < 0 ||
        (run->options.bytes > 0 && sequence->bytes > run->options.bytes - run->bytes)) {
        return status;
    }
    status = clear_slot(run, slot, error);
    if (status == GRAFT_OK) {
        run->slots[slot] = sequence;
        run->bytes += sequence->bytes;
        sequence->slot = slot;
        sequence->stage = GRAFT_SEQUENCE_RUNS;
        graft_session_choose_adapter(run->session, slot, sequence->adapter);
        graft_session_expect(run->session, slot, run->options.bytes > 0 ? most_fed(sequence) : 0);
    }
    return status;
}

/* Admits waiting sequences in their order, while there are slots and memory. */
static int admit(struct graft_run *run, struct graft_error *error) {
    int status = GRAFT_OK;
    for (size_t i = 0; i < run->n && status == GRAFT_OK; i++) {
        struct graft_sequence *sequence = run->sequences[i];
        if (sequence->stage != GRAFT_SEQUENCE_WAITS) {
            continue;
        }
        if (sequence->team != NULL && graft_team_leads(sequence) && !has_room_for_team(run, sequence)) {
            break;
        }
        status = graft_run_seat(run, sequence, error);
        if (status != GRAFT_OK || sequence->slot < 0) {
            break;
        }
    }
    return status;
}

int graft_run_step(struct graft_run *run, graft_run_sink sink, void *data, struct graft_error *error) {
    const struct graft_run_output output = {sink, data};
    run->failed = -1;
    int status = admit(run, error);
    for (size_t i = 0; i < run->n_groups && status == GRAFT_OK; i++) {
        status = graft_run_step_group(run, i, &output, error);
    }
    drop_ended(run);
    return status;
}

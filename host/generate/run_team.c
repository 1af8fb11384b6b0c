/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses tokens for the sequences of a team (team.h). */
#include <string.h>

#include "generate/beams.h"
#include "generate/run_parts.h"
#include "parallel/ranks.h"

enum { CHOICES_A_CANDIDATE = 3 }; /* beam, id, and the bits of the score */

size_t graft_run_team_choices(const struct graft_team *team) {
    return team->beams != NULL ? CHOICES_A_CANDIDATE * graft_beams_candidates(team->beams) : 1;
}

static void end_team(const struct graft_team *team) {
    for (size_t i = 0; i < team->n; i++) {
        graft_run_end(team->members[i]);
    }
}

/* --- Guidance --- */

static int step_guided(struct graft_run *run, struct graft_team *team, const struct graft_run_output *output,
                       struct graft_error *error) {
    struct graft_sequence *lead = team->lead;
    struct graft_sequence *guide = team->members[1];
    const int chooses = graft_ranks_leads();
    int32_t end = GRAFT_SEQUENCE_RUNNING;
    if (chooses) {
        graft_team_guide(team, run->options.vocab_size);
    }
    int status = graft_sequence_reserve(guide, 1, error);
    if (status == GRAFT_OK) {
        status = graft_run_take_one(run, lead, chooses ? guide->logits : NULL, chooses ? lead->logits : NULL, output,
                                    &end, error);
    }
    if (lead->count > lead->fed) {
        guide->ids[guide->count++] = lead->ids[lead->count - 1];
    }
    if (end != GRAFT_SEQUENCE_RUNNING) {
        end_team(team);
    }
    return status;
}

/* --- Beams --- */

static int offer_beams(struct graft_run *run, struct graft_team *team, struct graft_error *error) {
    const int64_t n = run->options.vocab_size;
    const int64_t least = team->lead->n_stops > 0 ? (int64_t)team->lead->n_stops + 1 : 2;
    const struct graft_sequence *scored = NULL;
    int status = GRAFT_OK;
    for (size_t i = 0; i < team->n && status == GRAFT_OK; i++) {
        struct graft_sequence *sequence = graft_team_origin(team, i);
        if (sequence != scored) {
            graft_log_softmax(sequence->logits, n);
            status = graft_sequence_start_processors(sequence, n, error);
            const struct graft_choice choice = graft_sequence_choice(sequence);
            status = status == GRAFT_OK ? graft_sampler_score(run->sampler, &choice, least, sequence->logits, error)
                                        : status;
            scored = sequence;
        }
        if (status == GRAFT_OK) {
            status = graft_beams_offer(team->beams, (int32_t)i, sequence->logits, error);
        }
    }
    return status;
}

/* Sends rank 0's candidates to the other ranks. */
static int tell(struct graft_run *run, const struct graft_beam_candidate *candidate, struct graft_error *error) {
    int32_t bits;
    memcpy(&bits, &candidate->score, sizeof bits);
    int status = graft_choices_add(&run->choices, candidate->beam, error);
    if (status == GRAFT_OK) {
        status = graft_choices_add(&run->choices, candidate->id, error);
    }
    return status == GRAFT_OK ? graft_choices_add(&run->choices, bits, error) : status;
}

static struct graft_beam_candidate hear(struct graft_run *run) {
    struct graft_beam_candidate candidate;
    candidate.beam = graft_choices_next(&run->choices);
    candidate.id = graft_choices_next(&run->choices);
    const int32_t bits = graft_choices_next(&run->choices);
    memcpy(&candidate.score, &bits, sizeof bits);
    return candidate;
}

static int choose(struct graft_run *run, struct graft_team *team, struct graft_error *error) {
    struct graft_beam_candidate *candidates = graft_beams_chosen(team->beams);
    const size_t n = graft_beams_candidates(team->beams);
    int status = GRAFT_OK;
    if (!graft_ranks_leads()) {
        for (size_t i = 0; i < n; i++) {
            candidates[i] = hear(run);
        }
        return GRAFT_OK;
    }
    status = offer_beams(run, team, error);
    if (status == GRAFT_OK) {
        graft_beams_choose(team->beams, &team->lead->state);
    }
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        status = tell(run, &candidates[i], error);
    }
    return status;
}

/* Reserves room for another token in each beam, and in those that become copies of others. */
static int reserve(const struct graft_team *team, struct graft_error *error) {
    int status = GRAFT_OK;
    for (size_t i = 0; i < team->n && status == GRAFT_OK; i++) {
        status = graft_sequence_reserve(team->members[i],
                                        graft_team_origin(team, 0)->count + 1 - team->members[i]->count, error);
    }
    return status;
}

static int find_ends(struct graft_team *team, struct graft_error *error) {
    const struct graft_beam_candidate *candidates = graft_beams_chosen(team->beams);
    int32_t *ends = graft_beams_ends(team->beams);
    int status = GRAFT_OK;
    for (size_t i = 0; i < graft_beams_candidates(team->beams) && status == GRAFT_OK; i++) {
        status = graft_sequence_find_end(graft_team_origin(team, (size_t)candidates[i].beam), candidates[i].id,
                                         &ends[i], error);
    }
    return status;
}

/* Makes a sequence a copy of another. If the cache cannot be copied, the sequence is fed from its start. */
static int fork(struct graft_run *run, const struct graft_sequence *from, struct graft_sequence *to,
                struct graft_error *error) {
    memcpy(to->ids, from->ids, from->count * sizeof *from->ids);
    to->count = from->count;
    to->prompt = from->prompt;
    to->reading = from->reading;
    to->fed = from->fed;
    int status = graft_session_fork(run->session, from->slot, to->slot, error);
    if (status != GRAFT_OK) {
        to->fed = 0;
        to->reading = from->count;
    }
    return status == GRAFT_OK ? graft_processor_states_fork(&to->states, &from->states, error) : status;
}

static struct graft_sequence *find_free(const struct graft_team *team) {
    for (size_t i = 0; i < team->n; i++) {
        if (!team->members[i]->is_taken) {
            return team->members[i];
        }
    }
    return NULL; /* not reached: there are as many sequences as beams */
}

/* Continues the beams. A beam that continues once keeps its sequence; one that continues several times is copied to the
 * sequences of beams that do not. Failures are repaired later by feeding tokens again. */
static int go_on(struct graft_run *run, struct graft_team *team, const struct graft_beam_candidate *next,
                 struct graft_error *error) {
    struct graft_sequence **order = team->order;
    int status = GRAFT_OK;
    for (size_t i = 0; i < team->n; i++) {
        struct graft_sequence *from = graft_team_origin(team, (size_t)next[i].beam);
        order[i] = from->is_taken ? NULL : from;
        from->is_taken = 1;
    }
    for (size_t i = 0; i < team->n; i++) {
        if (order[i] == NULL) {
            order[i] = find_free(team);
            order[i]->is_taken = 1;
            int forked = fork(run, graft_team_origin(team, (size_t)next[i].beam), order[i], error);
            status = status == GRAFT_OK ? forked : status;
        }
    }
    memcpy(team->members, order, team->n * sizeof *order);
    for (size_t i = 0; i < team->n; i++) {
        struct graft_sequence *sequence = team->members[i];
        sequence->is_taken = 0;
        sequence->ids[sequence->count++] = next[i].id;
        int accepted = graft_processor_states_accept(&sequence->states, next[i].id, error);
        status = status == GRAFT_OK ? accepted : status;
    }
    return status;
}

static int give_results(struct graft_team *team, const struct graft_run_output *output, struct graft_error *error) {
    struct graft_sequence *lead = team->lead;
    int status = GRAFT_OK;
    for (lead->result = 0; lead->result < lead->n_results && status == GRAFT_OK; lead->result++) {
        const struct graft_beam_result *result = graft_beams_result(team->beams, lead->result);
        for (size_t i = 0; i < result->count && status == GRAFT_OK; i++) {
            const int32_t end = i + 1 == result->count ? result->end : GRAFT_SEQUENCE_RUNNING;
            status = output->call(output->data, lead, result->ids[i], end, NULL, error);
        }
    }
    return status;
}

static int step_beams(struct graft_run *run, struct graft_team *team, const struct graft_run_output *output,
                      struct graft_error *error) {
    const struct graft_beam_candidate *next = NULL;
    int is_over = 0;
    int status = choose(run, team, error);
    if (status == GRAFT_OK) {
        status = reserve(team, error);
    }
    if (status == GRAFT_OK) {
        status = find_ends(team, error);
    }
    if (status == GRAFT_OK) {
        status = graft_beams_step(team->beams, team, &next, &is_over, error);
    }
    if (status != GRAFT_OK || !is_over) {
        return status == GRAFT_OK ? go_on(run, team, next, error) : status;
    }
    status = give_results(team, output, error);
    end_team(team);
    return status;
}

/* Rewinds members whose logits were not used, so that they are fed again. */
static void take_back(struct graft_run *run, const struct graft_team *team) {
    for (size_t i = 0; i < team->n; i++) {
        struct graft_sequence *member = team->members[i];
        int64_t reached = 0;
        if (member->stage == GRAFT_SEQUENCE_RUNS && member->count > 0 && member->fed >= member->count) {
            (void)graft_session_rewind(run->session, member->slot, (int64_t)member->count - 1, &reached, NULL);
            member->fed = (size_t)reached;
        }
    }
}

int graft_run_step_team(struct graft_run *run, struct graft_sequence *member, const float *logits,
                        const struct graft_run_output *output, struct graft_error *error) {
    struct graft_team *team = member->team;
    int is_complete = 0;
    int status = graft_team_keep(member, logits, run->options.vocab_size, &is_complete, error);
    if (status == GRAFT_OK && is_complete) {
        status = team->beams != NULL ? step_beams(run, team, output, error) : step_guided(run, team, output, error);
        graft_team_clear(team);
    }
    if (status != GRAFT_OK) {
        graft_team_clear(team);
        take_back(run, team);
    }
    return status;
}

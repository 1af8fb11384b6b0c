/* SPDX-License-Identifier: Apache-2.0 */
#include "generate/team.h"

#include <string.h>

#include "base/alloc.h"
#include "generate/beams.h"

static int is_guided(const struct graft_generation *generation) {
    return generation->guidance_scale != 0.0 && generation->guidance_scale != 1.0;
}

size_t graft_team_size(const struct graft_generation *generation) {
    return generation->num_beams > 1 ? (size_t)generation->num_beams : is_guided(generation) ? 2 : 1;
}

int graft_team_leads(const struct graft_sequence *sequence) {
    return sequence->team == NULL || sequence->team->lead == sequence;
}

/* Creates a member. A beam has no tokens until there are several continuations; a guide has the last token of the
 * prompt. */
static struct graft_sequence *create_member(const struct graft_sequence *lead) {
    const struct graft_ids_view prompt = {.ids = lead->ids + lead->prompt - 1,
                                          .count = lead->generation.num_beams > 1 ? 0 : 1,
                                          .source = lead->source,
                                          .n_source = lead->n_source};
    struct graft_sequence *member = graft_sequence_create(&prompt, &lead->generation, lead->stops, lead->n_stops, 0);
    if (member != NULL) {
        member->adapter = lead->adapter;
        member->texts = lead->texts;
        graft_sequence_use_processors(member, &lead->states.processors);
    }
    return member;
}

static void join(struct graft_team *team, struct graft_sequence *member) {
    team->members[team->n_there++] = member;
    member->team = team;
}

int graft_team_create(struct graft_sequence *lead, int64_t vocab_size, struct graft_error *error) {
    const size_t n = graft_team_size(&lead->generation);
    struct graft_team *team = n > 1 ? graft_alloc(1, sizeof *team) : NULL;
    if (n == 1) {
        return GRAFT_OK;
    }
    int status = team != NULL && (team->members = graft_alloc(2 * n, sizeof *team->members)) != NULL
                     ? GRAFT_OK
                     : graft_fail_memory(error, "generation");
    if (status == GRAFT_OK && lead->generation.num_beams > 1) {
        status = graft_beams_create(lead, vocab_size, &team->beams, error);
    }
    if (status != GRAFT_OK) {
        graft_free(team != NULL ? team->members : NULL);
        graft_free(team);
        return status;
    }
    team->order = team->members + n;
    team->lead = lead;
    lead->generation.speculate = 0;
    join(team, lead);
    for (team->n = 1; team->n < n && status == GRAFT_OK; team->n += status == GRAFT_OK) {
        struct graft_sequence *member = create_member(lead);
        status = member != NULL ? GRAFT_OK : graft_fail_memory(error, "generation");
        if (status == GRAFT_OK) {
            join(team, member);
        }
    }
    while (status != GRAFT_OK && team->n_there > 1) {
        graft_sequence_free(team->members[team->n_there - 1]);
    }
    if (status != GRAFT_OK) {
        graft_team_leave(lead);
    }
    return status;
}

void graft_team_leave(struct graft_sequence *member) {
    struct graft_team *team = member->team;
    member->team = NULL;
    if (team != NULL && --team->n_there == 0) {
        graft_beams_free(team->beams);
        graft_free(team->members);
        graft_free(team);
    }
}

int graft_team_keep(struct graft_sequence *member, const float *logits, int64_t vocab_size, int *is_complete,
                    struct graft_error *error) {
    const struct graft_team *team = member->team;
    const size_t size = (size_t)vocab_size;
    if (logits != NULL && member->logits == NULL &&
        (member->logits = graft_alloc(size, sizeof *member->logits)) == NULL) {
        return graft_fail_memory(error, "generation");
    }
    if (logits != NULL) {
        memcpy(member->logits, logits, size * sizeof *logits);
    }
    member->has_logits = 1;
    *is_complete = 1;
    for (size_t i = 0; i < team->n; i++) {
        *is_complete &= team->members[i]->has_logits || team->members[i]->count == 0;
    }
    return GRAFT_OK;
}

void graft_team_clear(struct graft_team *team) {
    for (size_t i = 0; i < team->n; i++) {
        team->members[i]->has_logits = 0;
    }
}

struct graft_sequence *graft_team_origin(const struct graft_team *team, size_t beam) {
    return team->members[beam]->count > 0 ? team->members[beam] : team->lead;
}

void graft_team_guide(const struct graft_team *team, int64_t n) {
    const float scale = (float)team->lead->generation.guidance_scale;
    const float *logits = team->lead->logits;
    const double total = graft_log_sum(logits, n);
    float *scores = team->members[1]->logits;
    graft_log_softmax(scores, n);
    for (int64_t i = 0; i < n; i++) {
        scores[i] = scale * ((float)((double)logits[i] - total) - scores[i]) + scores[i];
    }
}

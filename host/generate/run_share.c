/* SPDX-License-Identifier: Apache-2.0 */
/* Prompts with a common beginning. Only whole pieces are shared: they have the same borders in every prompt, so a
 * piece's keys and values depend only on the ids up to its end, and taking them over gives the same bits as computing
 * them. */
#include "generate/run_parts.h"

int graft_run_can_share(const struct graft_run *run, const struct graft_sequence *sequence) {
    return run->options.piece > 0 && sequence->n_images == 0 && sequence->n_source == 0;
}

static size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

static size_t larger(size_t a, size_t b) {
    return a > b ? a : b;
}

/* How many tokens `sequence` could reuse from `other` once that has read `read` tokens of its own prompt. At least one
 * token is left, whose logits are needed. */
static size_t shareable(const struct graft_run *run, const struct graft_sequence *sequence,
                        const struct graft_sequence *other, size_t read) {
    size_t piece = run->options.piece;
    size_t most = smaller(sequence->reading - 1, read);
    if (other == sequence || other->adapter != sequence->adapter || !graft_run_can_share(run, other) || most < piece) {
        return 0;
    }
    return graft_sequence_alike(sequence, other, most) / piece * piece;
}

size_t graft_run_has_read(const struct graft_sequence *sequence) {
    return smaller(sequence->fed, sequence->reading);
}

static int is_read(const struct graft_sequence *other) {
    return other->stage == GRAFT_SEQUENCE_RUNS && other->fed < other->reading;
}

/* Of two sequences that need the same piece, the one that came first reads it. */
int graft_run_waits(const struct graft_run *run, const struct graft_sequence *sequence) {
    for (int32_t i = 0; i < run->options.slots && graft_run_can_share(run, sequence); i++) {
        const struct graft_sequence *other = run->slots[i];
        if (other != NULL && is_read(other) && other->number < sequence->number && other->fed >= sequence->fed &&
            shareable(run, sequence, other, other->reading) > other->fed) {
            return 1;
        }
    }
    return 0;
}

/* Records how much two different prompts have in common: that is worth keeping (run_prefix.c). */
static void note_shared(struct graft_sequence *sequence, struct graft_sequence *other, size_t n) {
    const int is_same = sequence->reading == other->reading &&
                        graft_sequence_alike(sequence, other, sequence->reading) == sequence->reading;
    if (!is_same && other->number >= 0) {
        sequence->shared = larger(sequence->shared, n);
        other->shared = larger(other->shared, n);
    }
    sequence->kept = larger(sequence->kept, smaller(other->kept, n));
}

static int share_one(struct graft_run *run, struct graft_sequence *sequence, struct graft_error *error) {
    struct graft_sequence *best = NULL;
    size_t most = sequence->fed;
    for (int32_t i = 0; i < run->options.slots; i++) {
        struct graft_sequence *other = run->slots[i];
        size_t n = other != NULL ? shareable(run, sequence, other, graft_run_has_read(other)) : 0;
        if (n > most) {
            most = n;
            best = other;
        }
    }
    if (best == NULL) {
        return GRAFT_OK;
    }
    int done = 0;
    int status = graft_session_share(run->session, best->slot, sequence->slot, (int64_t)most, &done, error);
    run->counts.shared_tokens += done ? (int64_t)(most - sequence->fed) : 0;
    if (status != GRAFT_OK || done) {
        sequence->fed = done ? most : 0;
    }
    if (done) {
        note_shared(sequence, best, most);
    }
    return status;
}

int graft_run_share(struct graft_run *run, struct graft_error *error) {
    int status = GRAFT_OK;
    for (size_t i = 0; i < run->n && status == GRAFT_OK; i++) {
        struct graft_sequence *sequence = run->sequences[i];
        if (is_read(sequence) && graft_run_can_share(run, sequence) && !graft_run_waits(run, sequence)) {
            status = share_one(run, sequence, error);
        }
    }
    return status;
}

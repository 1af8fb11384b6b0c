/* SPDX-License-Identifier: Apache-2.0 */
/* Prefixes of prompts that outlive a run: finds one in a slot, to be saved, and puts a saved one into a slot, as a
 * finished sequence. */
#include "generate/run_parts.h"

size_t graft_run_piece(const struct graft_run *run) {
    return run->options.piece;
}

/* How many tokens of its prompt a sequence has read, in whole pieces; 0 if it cannot be shared without its adapter. */
static size_t whole_pieces(const struct graft_run *run, const struct graft_sequence *sequence) {
    return graft_run_can_share(run, sequence) && sequence->adapter == GRAFT_ADAPTER_ALL
               ? graft_run_has_read(sequence) / run->options.piece * run->options.piece
               : 0;
}

/* Whether a prefix of graft_run_use_prefix covers this one. */
static int is_known(const struct graft_run *run, const struct graft_run_prefix *prefix) {
    const struct graft_sequence *sequence = prefix->count > 0 ? run->slots[prefix->slot] : NULL;
    for (int32_t i = 0; i < run->options.slots && sequence != NULL; i++) {
        const struct graft_sequence *other = run->slots[i];
        if (other != NULL && other->number < 0 && whole_pieces(run, other) >= prefix->count &&
            graft_sequence_alike(sequence, other, prefix->count) == prefix->count) {
            return 1;
        }
    }
    return 0;
}

struct graft_run_prefix graft_run_longest_prefix(const struct graft_run *run) {
    struct graft_run_prefix longest = {.slot = -1};
    for (int32_t i = 0; i < run->options.slots; i++) {
        const struct graft_sequence *sequence = run->slots[i];
        const size_t whole = sequence != NULL && sequence->number >= 0 ? whole_pieces(run, sequence) : 0;
        if (whole > longest.count) {
            longest = (struct graft_run_prefix){sequence->ids, whole, i};
        }
    }
    return is_known(run, &longest) ? (struct graft_run_prefix){.slot = -1} : longest;
}

struct graft_run_prefix graft_run_shared_prefix(const struct graft_run *run) {
    enum { SHARE = 3 }; /* a prefix is kept again once it is longer by a third */
    for (int32_t i = 0; i < run->options.slots; i++) {
        const struct graft_sequence *sequence = run->slots[i];
        if (sequence != NULL && sequence->shared > sequence->kept + sequence->kept / SHARE &&
            whole_pieces(run, sequence) >= sequence->shared) {
            return (struct graft_run_prefix){sequence->ids, sequence->shared, i};
        }
    }
    return (struct graft_run_prefix){.slot = -1};
}

void graft_run_keep_prefix(struct graft_run *run, const struct graft_run_prefix *prefix) {
    const struct graft_sequence *kept = run->slots[prefix->slot];
    for (int32_t i = 0; i < run->options.slots; i++) {
        struct graft_sequence *sequence = run->slots[i];
        const size_t n = sequence != NULL ? graft_sequence_alike(sequence, kept, prefix->count) : 0;
        if (sequence != NULL && n / run->options.piece * run->options.piece > sequence->kept) {
            sequence->kept = n / run->options.piece * run->options.piece;
        }
    }
}

size_t graft_run_known(const struct graft_run *run, const int32_t *ids, size_t count) {
    size_t most = 0;
    for (int32_t i = 0; i < run->options.slots; i++) {
        const struct graft_sequence *sequence = run->slots[i];
        const size_t whole = sequence != NULL ? whole_pieces(run, sequence) : 0;
        size_t n = 0;
        while (n < whole && n < count && sequence->ids[n] == ids[n]) {
            n++;
        }
        most = n > most ? n : most;
    }
    return run->options.piece > 0 ? most / run->options.piece * run->options.piece : 0;
}

int graft_run_make_prefix(struct graft_run *run, struct graft_run_prefix *prefix, struct graft_error *error) {
    const struct graft_ids_view view = {.ids = prefix->ids, .count = prefix->count};
    const struct graft_generation none = {.struct_size = sizeof none};
    struct graft_sequence *sequence = graft_sequence_create(&view, &none, NULL, 0, 0);
    if (sequence == NULL) {
        return graft_fail_memory(error, "generation");
    }
    sequence->number = -1; /* marks it as a prefix: sequences of graft_run_add have numbers from 0 on */
    sequence->adapter = GRAFT_ADAPTER_ALL;
    sequence->bytes =
        run->options.bytes > 0 ? (int64_t)prefix->count * run->options.token_bytes + run->options.sequence_bytes : 0;
    int status = graft_run_seat(run, sequence, error);
    prefix->slot = status == GRAFT_OK ? sequence->slot : -1;
    if (sequence->slot < 0) {
        graft_sequence_free(sequence);
        return status;
    }
    graft_run_end(sequence); /* it has no tokens yet, so no other sequence takes them over */
    return status;
}

void graft_run_use_prefix(struct graft_run *run, const struct graft_run_prefix *prefix) {
    struct graft_sequence *sequence = run->slots[prefix->slot];
    sequence->count = sequence->fed = sequence->reading = sequence->kept = prefix->count;
    graft_session_set_length(run->session, prefix->slot, (int64_t)prefix->count);
}

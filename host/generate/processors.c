/* SPDX-License-Identifier: Apache-2.0 */
#include "generate/processors.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Arguments of every processor. */
struct work {
    const struct graft_choice *choice;
    const struct graft_generation *generation;
    float *scores;
    int64_t vocab_size;
    const struct graft_processor_room *room;
};

static int is_known(const struct work *work, int32_t id) {
    return id >= 0 && id < work->vocab_size;
}

static void set(const struct work *work, const struct graft_id_list *ids, float score) {
    for (size_t i = 0; i < ids->n; i++) {
        if (is_known(work, ids->ids[i])) {
            work->scores[ids->ids[i]] = score;
        }
    }
}

/* Whether the sequence ends with these `n` ids. */
static int ends_in(const struct graft_choice *choice, const int32_t *ids, size_t n) {
    return n <= choice->count && (n == 0 || memcmp(choice->ids + choice->count - n, ids, n * sizeof *ids) == 0);
}

/* --- Biases --- */

static int is_same_sequence(const struct graft_sequence_bias *a, const struct graft_sequence_bias *b) {
    return a->n == b->n && memcmp(a->ids, b->ids, a->n * sizeof *a->ids) == 0;
}

/* The bias of sequence `number`: of several biases of one sequence the last one counts, at the position of the first.
 */
static float bias_of(const struct graft_generation *generation, size_t number) {
    const struct graft_sequence_bias *all = generation->sequence_bias;
    double bias = 0.0;
    for (size_t i = 0; i < generation->n_sequence_bias; i++) {
        if (is_same_sequence(&all[i], &all[number])) {
            if (i < number) {
                return 0.0F;
            }
            bias = all[i].bias;
        }
    }
    return (float)bias;
}

/* Gathers biases: of single tokens the last one for each token; those of sequences are added up. */
static void gather_bias(const struct work *work, size_t number, int singles) {
    const struct graft_sequence_bias *bias = &work->generation->sequence_bias[number];
    const int32_t last = bias->ids[bias->n - 1];
    if ((bias->n == 1) != singles || !is_known(work, last)) {
        return;
    }
    if (singles) {
        work->room->bias[last] = (float)bias->bias;
    } else if (ends_in(work->choice, bias->ids, bias->n - 1)) {
        work->room->bias[last] += bias_of(work->generation, number);
    }
}

/* Adds the gathered bias of a token to its score, once. */
static void spend_bias(const struct work *work, int32_t last) {
    if (is_known(work, last) && work->room->bias[last] != 0.0F) {
        work->scores[last] += work->room->bias[last];
        work->room->bias[last] = 0.0F;
    }
}

static void add_biases(const struct work *work) {
    const struct graft_generation *generation = work->generation;
    for (int singles = 1; singles >= 0; singles--) {
        for (size_t i = 0; i < generation->n_sequence_bias; i++) {
            gather_bias(work, i, singles);
        }
    }
    for (size_t i = 0; i < generation->n_sequence_bias; i++) {
        const struct graft_sequence_bias *bias = &generation->sequence_bias[i];
        spend_bias(work, bias->ids[bias->n - 1]);
    }
}

static int is_among_first(const struct graft_id_list *list, size_t n, int32_t id) {
    for (size_t i = 0; i < n; i++) {
        if (list->ids[i] == id) {
            return 1;
        }
    }
    return 0;
}

/* Forbids bad words. End-of-sequence ids are never forbidden, even if they are listed. */
static void forbid_words(const struct work *work) {
    for (size_t i = 0; i < work->generation->n_bad_words_ids; i++) {
        const struct graft_id_list *word = &work->generation->bad_words_ids[i];
        const int32_t last = word->ids[word->n - 1];
        if (is_known(work, last) && ends_in(work->choice, word->ids, word->n - 1) &&
            !(word->n == 1 && is_among_first(&work->choice->eos, work->choice->eos.n, last))) {
            work->scores[last] -= INFINITY;
        }
    }
}

/* --- Penalties --- */

/* Penalises tokens. One that occurs several times is penalised once. */
static void punish(const struct work *work, const int32_t *ids, size_t n, double penalty) {
    const float factor = (float)penalty;
    for (size_t i = 0; i < n; i++) {
        float *score = &work->scores[ids[i]];
        if (!work->room->seen[ids[i]]) {
            *score = *score < 0.0F ? *score * factor : *score / factor;
        }
        work->room->seen[ids[i]] = 1;
    }
    for (size_t i = 0; i < n; i++) {
        work->room->seen[ids[i]] = 0;
    }
}

/* Forbids each token that, in `ids` [n], follows the last size - 1 tokens of the sequence. */
static void forbid_repeats(const struct work *work, const int32_t *ids, size_t n, int64_t size) {
    const struct graft_choice *choice = work->choice;
    const size_t before = (size_t)size - 1;
    for (size_t i = before; choice->count >= before && i < n; i++) {
        if (ends_in(choice, ids + i - before, before)) {
            work->scores[ids[i]] = -INFINITY;
        }
    }
}

/* Makes ending more likely with each token after the first ones; an id that is listed twice grows once. */
static void decay(const struct work *work) {
    const struct graft_choice *choice = work->choice;
    const int64_t past_start = (int64_t)(choice->count - choice->prompt) - work->generation->exponential_decay_start;
    if (past_start <= 0) {
        return;
    }
    const float growth = (float)(pow(work->generation->exponential_decay_factor, (double)past_start) - 1.0);
    for (size_t i = 0; i < choice->eos.n; i++) {
        float *score = is_known(work, choice->eos.ids[i]) ? &work->scores[choice->eos.ids[i]] : NULL;
        if (score != NULL && isfinite(*score) && !is_among_first(&choice->eos, i, choice->eos.ids[i])) {
            *score += fabsf(*score) * growth;
        }
    }
}

/* --- Lengths and single tokens --- */

/* The shortest length. min_new_tokens takes precedence over min_length. */
static size_t shortest(const struct graft_choice *choice) {
    const struct graft_generation *generation = choice->generation;
    return generation->min_new_tokens > 0 ? choice->prompt + (size_t)generation->min_new_tokens
                                          : (size_t)generation->min_length;
}

static void force(const struct work *work, const struct graft_id_list *ids) {
    for (int64_t i = 0; i < work->vocab_size; i++) {
        work->scores[i] = -INFINITY;
    }
    set(work, ids, 0.0F);
}

static void make_finite(const struct work *work) {
    for (int64_t i = 0; i < work->vocab_size; i++) {
        float *score = &work->scores[i];
        if (isnan(*score)) {
            *score = 0.0F;
        } else if (isinf(*score)) {
            *score = *score > 0.0F ? FLT_MAX : -FLT_MAX;
        }
    }
}

/* Index of the first token that is chosen: one that is forced after a prompt of one token does not count. */
static size_t first_choice(const struct graft_choice *choice) {
    return choice->prompt + (choice->prompt <= 1 && choice->generation->forced_bos_token_id.n > 0);
}

static int is_number(double penalty) {
    return penalty != 0.0 && penalty != 1.0;
}

static int has_named(const struct graft_choice *choice) {
    return choice->named != NULL && choice->named->processors.n > 0;
}

int graft_processors_wanted(const struct graft_choice *choice) {
    const struct graft_generation *generation = choice->generation;
    return has_named(choice) || generation->repetition_penalty != 1.0 ||
           is_number(generation->encoder_repetition_penalty) || generation->n_sequence_bias > 0 ||
           generation->n_bad_words_ids > 0 || generation->no_repeat_ngram_size > 0 ||
           generation->encoder_no_repeat_ngram_size > 0 || generation->min_length > 0 ||
           generation->min_new_tokens > 0 || generation->forced_bos_token_id.n > 0 ||
           generation->forced_eos_token_id.n > 0 || generation->remove_invalid_values ||
           is_number(generation->exponential_decay_factor) || generation->suppress_tokens.n > 0 ||
           generation->begin_suppress_tokens.n > 0;
}

static void run_penalties(const struct work *work) {
    const struct graft_choice *choice = work->choice;
    const struct graft_generation *generation = work->generation;
    const int32_t *read = choice->n_source > 0 ? choice->source : choice->ids;
    const size_t n_read = choice->n_source > 0 ? choice->n_source : choice->prompt;
    if (is_number(generation->encoder_repetition_penalty)) {
        punish(work, read, n_read, 1.0 / generation->encoder_repetition_penalty);
    }
    if (generation->repetition_penalty != 1.0) {
        punish(work, choice->ids, choice->count, generation->repetition_penalty);
    }
    if (generation->no_repeat_ngram_size > 0) {
        forbid_repeats(work, choice->ids, choice->count, generation->no_repeat_ngram_size);
    }
    if (generation->encoder_no_repeat_ngram_size > 0) {
        forbid_repeats(work, read, n_read, generation->encoder_no_repeat_ngram_size);
    }
}

static int run_named(const struct work *work, struct graft_error *error) {
    const int only_largest = !work->generation->do_sample && work->generation->num_beams <= 1;
    const struct graft_logits_args args = {
        .struct_size = sizeof args,
        .ids = work->choice->ids,
        .count = (int64_t)work->choice->count,
        .prompt = (int64_t)work->choice->prompt,
        .scores = work->scores,
        .vocab_size = work->vocab_size,
        .flags = only_largest ? GRAFT_LOGITS_ONLY_LARGEST : 0,
    };
    return has_named(work->choice) ? graft_processor_states_run(work->choice->named, &args, error) : GRAFT_OK;
}

int graft_processors_run(const struct graft_choice *choice, float *scores, int64_t vocab_size,
                         const struct graft_processor_room *room, struct graft_error *error) {
    const struct graft_generation *generation = choice->generation;
    const struct work work = {choice, generation, scores, vocab_size, room};
    add_biases(&work);
    run_penalties(&work);
    forbid_words(&work);
    if (choice->count < shortest(choice)) {
        set(&work, &choice->eos, -INFINITY);
    }
    if (generation->forced_bos_token_id.n > 0 && choice->count == 1) {
        force(&work, &generation->forced_bos_token_id);
    }
    if (generation->forced_eos_token_id.n > 0 && choice->count + 1 == choice->longest) {
        force(&work, &generation->forced_eos_token_id);
    }
    if (generation->remove_invalid_values) {
        make_finite(&work);
    }
    if (is_number(generation->exponential_decay_factor)) {
        decay(&work);
    }
    set(&work, &generation->suppress_tokens, -INFINITY);
    if (choice->count == first_choice(choice)) {
        set(&work, &generation->begin_suppress_tokens, -INFINITY);
    }
    return run_named(&work, error);
}

double graft_log_sum(const float *scores, int64_t n) {
    float largest = -INFINITY;
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++) {
        largest = scores[i] > largest ? scores[i] : largest;
    }
    for (int64_t i = 0; i < n; i++) {
        sum += exp((double)scores[i] - (double)largest);
    }
    return (double)largest + log(sum);
}

void graft_log_softmax(float *scores, int64_t n) {
    const double total = graft_log_sum(scores, n);
    for (int64_t i = 0; i < n; i++) {
        scores[i] = (float)((double)scores[i] - total);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Sequences of a loaded model that are added and removed at any time. */
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "graft/host/tokenizer.h"
#include "library/sequences.h"
#include "rope/growing.h"

enum { DEFAULT_RUNNING = 64, DEFAULT_PIECE = 512, LEAST_PIECE = 64 };

/* If rotary frequencies depend on the length of a sequence, or tokens see later ones, keys and values of a prompt's
 * first tokens depend on the rest, and cannot be shared. */
struct graft_run_options graft_model_run_options(const struct graft_model *model, int32_t slots) {
    int is_growing = graft_rope_is_growing(&model->config->view) || graft_tree_number(model->tree, "renewed_after", 0);
    int is_bidirectional = graft_tree_number(model->tree, "bidirectional", 0) != 0;
    return (struct graft_run_options){
        .vocab_size = model->vocab_size,
        .slots = slots,
        .piece = is_growing || is_bidirectional ? 0 : DEFAULT_PIECE,
        .guesses_nothing = is_bidirectional,
        .forward_tokens = DEFAULT_PIECE,
        .step_tokens = SIZE_MAX,
        .max_positions = graft_model_max_positions(model),
    };
}

static int check_options(const struct graft_sequences_options *options, struct graft_error *error) {
    int status = graft_check_given(options, GRAFT_SEQUENCES_OPTIONS_SIZE_1_0, "struct graft_sequences_options", error);
    const char *wrong = NULL;
    if (status != GRAFT_OK) {
        return status;
    }
    if (options->max_running < 0) {
        wrong = "max_running";
    } else if (options->piece_tokens != 0 && options->piece_tokens < LEAST_PIECE) {
        wrong = "piece_tokens";
    } else if (options->step_tokens < 0) {
        wrong = "step_tokens";
    } else if (options->max_cache_bytes < 0) {
        wrong = "max_cache_bytes";
    }
    return wrong == NULL ? GRAFT_OK : graft_error_set(error, GRAFT_ERROR_USAGE, wrong, "out of range");
}

/* Measures what a sequence keeps for each token, and in total, by running a token through the model. */
static int measure_token(const struct graft_model *model, struct graft_session *session, struct graft_run_options *run,
                         struct graft_error *error) {
    const int32_t slot = 0;
    int status = graft_model_feed_token(model, session, slot, GRAFT_LOGITS_NONE, error);
    if (status == GRAFT_OK) {
        run->token_bytes = graft_session_token_bytes(session, slot);
        run->sequence_bytes = graft_session_state_bytes(session, slot);
        graft_session_release(session, slot);
    }
    return status;
}

/* The maximum number of tokens of a forward, which the caller limits: it is how long other sequences wait. */
static size_t most_of_forward(const struct graft_sequences_options *options) {
    int64_t piece = options->piece_tokens > 0 ? options->piece_tokens : DEFAULT_PIECE;
    int64_t asked = piece > options->step_tokens ? piece : options->step_tokens;
    return (size_t)(asked < DEFAULT_PIECE ? asked : DEFAULT_PIECE);
}

static int start(struct graft_sequences *sequences, const struct graft_sequences_options *options,
                 struct graft_error *error) {
    int32_t slots = options->max_running > 0 ? options->max_running : DEFAULT_RUNNING;
    struct graft_run_options run = graft_model_run_options(sequences->model, slots);
    run.piece = run.piece > 0 && options->piece_tokens > 0 ? (size_t)options->piece_tokens : run.piece;
    run.step_tokens = options->step_tokens > 0 ? (size_t)options->step_tokens : 1;
    run.forward_tokens = most_of_forward(options);
    run.bytes = options->max_cache_bytes;
    int status = graft_model_session(sequences->model, slots, &sequences->session, error);
    if (status == GRAFT_OK && graft_session_stages(sequences->session) > 1) {
        status = graft_error_set(error, GRAFT_ERROR_USAGE, sequences->model->directory,
                                 "the model's layers are spread over several processes");
        graft_error_hint(error, "graft_model_generate runs it");
    }
    if (status == GRAFT_OK && run.bytes > 0) {
        status = measure_token(sequences->model, sequences->session, &run, error);
    }
    return status == GRAFT_OK ? graft_run_create(sequences->session, &run, &sequences->run, error) : status;
}

static int create_sequences(struct graft_model *model, const struct graft_sequences_options *options,
                            struct graft_sequences **sequences, struct graft_error *error) {
    static const struct graft_sequences_options defaults = {.struct_size = sizeof defaults};
    options = options != NULL ? options : &defaults;
    int status = graft_model_check_ready(model, error);
    if (status == GRAFT_OK) {
        status = check_options(options, error);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    struct graft_sequences *result = graft_alloc(1, sizeof *result);
    if (result == NULL) {
        return graft_fail_memory(error, model->directory);
    }
    result->model = model;
    status = start(result, options, error);
    if (status != GRAFT_OK) {
        graft_sequences_free(result);
        return status;
    }
    *sequences = result;
    return GRAFT_OK;
}

int graft_sequences_create(struct graft_model *model, const struct graft_sequences_options *options,
                           struct graft_sequences **sequences, struct graft_error *error) {
    struct graft_context *before = graft_model_begin(model);
    int status = create_sequences(model, options, sequences, error);
    (void)graft_context_enter(before);
    return status;
}

void graft_sequences_free(struct graft_sequences *sequences) {
    if (sequences != NULL) {
        graft_run_free(sequences->run);
        graft_session_free(sequences->session);
        graft_free(sequences->tokens);
        graft_free(sequences->logits);
        graft_free(sequences);
    }
}

/* Collects the ids that end sequences: the model's end-of-sequence ids, unless they are ignored, and the caller's. */
static int gather_stops(const struct graft_model *model, const struct graft_generation *generation,
                        const struct graft_sequence_options *options, struct graft_ids *stops) {
    if (!generation->ignore_eos) {
        graft_ids_append(stops, model->generation.eos.ids, model->generation.eos.n);
    }
    if (options != NULL && options->n_stop_ids > 0) {
        graft_ids_append(stops, options->stop_ids, options->n_stop_ids);
    }
    return stops->failed ? -1 : 0;
}

/* Checks settings. A sequence has one result here; a prompt can be added several times. */
static int check_settings(const struct graft_generation *generation, const struct graft_sequence_options *options,
                          struct graft_error *error) {
    if (generation->max_new_tokens == 0) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "max_new_tokens", "out of range");
    }
    if (generation->num_return_sequences > 1) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "num_return_sequences",
                               "expected 1, because a sequence has one result");
    }
    return generation->num_beams > 1 && options != NULL && options->gives_logits
               ? graft_error_set(error, GRAFT_ERROR_USAGE, "gives_logits",
                                 "cannot be combined with beams, which are chosen from many logits at once")
               : GRAFT_OK;
}

static int read_generation(struct graft_model *model, const struct graft_sequence_options *options,
                           struct graft_generation_settings *settings, struct graft_error *error) {
    int status = graft_check_given(options, GRAFT_SEQUENCE_OPTIONS_SIZE_1_0, "struct graft_sequence_options", error);
    if (status == GRAFT_OK) {
        status = graft_model_choose_generation(model, options != NULL ? options->generation : NULL, settings, error);
    }
    return status == GRAFT_OK ? check_settings(&settings->generation, options, error) : status;
}

static int add(struct graft_sequences *sequences, const struct graft_prompt *prompt,
               const struct graft_generation_settings *settings, const struct graft_sequence_options *options,
               int64_t *number, struct graft_error *error) {
    struct graft_ids_view view;
    struct graft_ids stops = {0};
    struct graft_sequence *sequence = NULL;
    int status = graft_model_view_prompt(sequences->model, prompt, &view, error);
    if (status != GRAFT_OK) {
        return status;
    }
    if (gather_stops(sequences->model, &settings->generation, options, &stops) == 0) {
        sequence = graft_sequence_create(&view, &settings->generation, stops.ids, stops.n, 0);
    }
    graft_ids_free(&stops);
    if (sequence == NULL) {
        return graft_fail_memory(error, sequences->model->directory);
    }
    sequence->texts = settings->texts;
    graft_sequence_use_processors(sequence, &settings->processors);
    sequence->gives_logits = options != NULL && options->gives_logits;
    status = graft_model_find_adapters(sequences->model, prompt, 1, &sequence->adapter, error);
    if (status == GRAFT_OK) {
        status = graft_run_add(sequences->run, sequence, error);
    }
    if (status != GRAFT_OK) {
        graft_sequence_free(sequence);
        return status;
    }
    *number = sequence->number;
    return GRAFT_OK;
}

static int add_sequence(struct graft_sequences *sequences, const struct graft_prompt *prompt,
                        const struct graft_sequence_options *options, int64_t *number, struct graft_error *error) {
    struct graft_generation_settings settings;
    int status = read_generation(sequences->model, options, &settings, error);
    if (status == GRAFT_OK) {
        status = graft_model_check_prompts(sequences->model, prompt, 1, error);
    }
    if (status == GRAFT_OK && prompt->count == 0) {
        status = graft_error_set(error, GRAFT_ERROR_USAGE, "prompt", "the sequence has no tokens");
    }
    return status == GRAFT_OK ? add(sequences, prompt, &settings, options, number, error) : status;
}

int graft_sequences_add(struct graft_sequences *sequences, const struct graft_prompt *prompt,
                        const struct graft_sequence_options *options, int64_t *number, struct graft_error *error) {
    struct graft_context *before = graft_model_begin(sequences->model);
    int status = add_sequence(sequences, prompt, options, number, error);
    (void)graft_context_enter(before);
    return status;
}

int graft_sequences_remove(struct graft_sequences *sequences, int64_t number, struct graft_error *error) {
    return graft_run_remove(sequences->run, number) == 0
               ? GRAFT_OK
               : graft_error_set(error, GRAFT_ERROR_USAGE, "sequence", "there is no sequence %lld", (long long)number);
}

size_t graft_sequences_count(const struct graft_sequences *sequences) {
    return graft_run_count(sequences->run);
}

static int keep_logits(struct graft_sequences *sequences, const float *logits) {
    size_t size = (size_t)sequences->model->vocab_size;
    if (graft_grow(&sequences->logits, &sequences->logits_capacity, sequences->n_logits, size * sizeof *logits) != 0) {
        return -1;
    }
    memcpy(sequences->logits + sequences->n_logits++ * size, logits, size * sizeof *logits);
    return 0;
}

/* Records a token. Its logits may still be moved in memory, so only their presence is recorded; pointers are set after
 * the step. */
static int on_token(void *data, const struct graft_sequence *sequence, int32_t id, int32_t end, const float *logits,
                    struct graft_error *error) {
    struct graft_sequences *sequences = data;
    if (graft_grow(&sequences->tokens, &sequences->capacity, sequences->n, sizeof *sequences->tokens) != 0 ||
        (sequence->gives_logits && keep_logits(sequences, logits) != 0)) {
        return graft_fail_memory(error, sequences->model->directory);
    }
    sequences->tokens[sequences->n++] = (struct graft_sequence_token){
        .struct_size = sizeof *sequences->tokens,
        .id = id,
        .sequence = sequence->number,
        .end = end,
        .logits = sequence->gives_logits ? logits : NULL,
    };
    return GRAFT_OK;
}

static int take_step(struct graft_sequences *sequences, const struct graft_sequence_token **tokens, size_t *n,
                     struct graft_error *error) {
    const float *next;
    sequences->n = sequences->n_logits = 0;
    int status = graft_run_step(sequences->run, on_token, sequences, error);
    next = sequences->logits;
    for (size_t i = 0; i < sequences->n; i++) {
        if (sequences->tokens[i].logits != NULL) {
            sequences->tokens[i].logits = next;
            next += sequences->model->vocab_size;
        }
    }
    *tokens = sequences->tokens;
    *n = sequences->n;
    return status;
}

int graft_sequences_step(struct graft_sequences *sequences, const struct graft_sequence_token **tokens, size_t *n,
                         struct graft_error *error) {
    struct graft_context *before = graft_model_begin(sequences->model);
    int status = take_step(sequences, tokens, n, error);
    (void)graft_context_enter(before);
    return status;
}

void graft_sequences_get_counts(const struct graft_sequences *sequences, struct graft_sequences_counts *counts) {
    struct graft_sequences_counts all = {.struct_size = sizeof all};
    graft_run_get_counts(sequences->run, &all);
    graft_struct_copy(counts, counts->struct_size, &all);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* One sequence of a run: its tokens so far, how the next are chosen, and when it ends. */
#ifndef GRAFT_GENERATE_SEQUENCE_H
#define GRAFT_GENERATE_SEQUENCE_H

#include "generate/draft.h"
#include "generate/fields.h"
#include "generate/generate.h"
#include "generate/named_processors.h"
#include "generate/sampler.h"
#include "generate/stop_strings.h"

enum graft_sequence_stage {
    GRAFT_SEQUENCE_WAITS, /* for a slot, or for memory */
    GRAFT_SEQUENCE_RUNS,
    GRAFT_SEQUENCE_IS_OVER /* and what it left in its slot serves others, until the slot is wanted */
};

struct graft_team;

struct graft_sequence {
    int64_t number; /* of the run's sequences, in the order they came */
    enum graft_sequence_stage stage;
    int32_t slot;     /* -1 while it waits */
    int32_t adapter;  /* as in graft_batch */
    int32_t *ids;     /* [count + n_guesses] */
    size_t count;     /* tokens so far */
    size_t n_guesses; /* behind them, during a step */
    size_t capacity;
    size_t prompt;  /* how many of them are the prompt */
    size_t reading; /* those before it are fed as a prompt is; grows where a sequence is fed again */
    size_t fed;     /* how many the session holds */
    size_t shared;  /* tokens of the prompt that it has in common with another one, in whole pieces */
    size_t kept;    /* and that are in a file already */
    const struct graft_image *images;
    size_t n_images;
    int32_t *source; /* [n_source] the encoder's input */
    size_t n_source;
    struct graft_generation generation; /* with max_new_tokens, whatever said how long it may become */
    struct graft_generation_fields *fields;
    struct graft_token_texts texts; /* for stop strings */
    int32_t *stops;                 /* [n_stops]: ids that end it */
    size_t n_stops;
    int gives_logits; /* whoever added it wants to see them */
    int64_t most;     /* tokens that the model has positions for; 0: no limit */
    int64_t bytes;    /* reserved for what it leaves behind, of the run's budget */
    struct graft_draft draft;
    struct graft_processor_states states; /* of logits processors, where tokens are chosen */
    struct graft_team *team;              /* those that take their tokens with it; NULL: it is alone */
    float *logits;                        /* [vocab_size], while it waits for those of its team */
    int has_logits;
    int is_taken;     /* while beams are put in order */
    size_t result;    /* of n_results that this token is of */
    size_t n_results; /* that it is to have; 0 and 1: one */
    struct graft_sampler_state state;
};

/* A sequence of this prompt, whose images stay the caller's, while everything else is copied; NULL if memory ran out.
 * Draws differ by `generation->seed` and `draws`. */
struct graft_sequence *graft_sequence_create(const struct graft_ids_view *prompt,
                                             const struct graft_generation *generation, const int32_t *stops,
                                             size_t n_stops, size_t draws);
void graft_sequence_free(struct graft_sequence *sequence);

/* Sets the logits processors of a sequence. Names and settings that the caller gave are taken from the sequence's own
 * copy of its generation. */
void graft_sequence_use_processors(struct graft_sequence *sequence, const struct graft_named_processors *processors);

/* Room for `more` ids behind those there are. */
int graft_sequence_reserve(struct graft_sequence *sequence, size_t more, struct graft_error *error);

/* How many tokens it may still get. */
size_t graft_sequence_left(const struct graft_sequence *sequence);

/* What is to be known of it when its next token is chosen. */
struct graft_choice graft_sequence_choice(const struct graft_sequence *sequence);

/* Adds the next token. `*end` is why the sequence ends with it, as in graft/host/sequences.h; 0: it goes on. There is
 * room. */
int graft_sequence_append(struct graft_sequence *sequence, int32_t id, int32_t *end, struct graft_error *error);

/* Why the sequence would end with that token, which is put behind its ids: there is room. */
int graft_sequence_find_end(struct graft_sequence *sequence, int32_t id, int32_t *end, struct graft_error *error);

/* [forward] Starts its logits processors, unless they are. */
int graft_sequence_start_processors(struct graft_sequence *sequence, int64_t vocab_size, struct graft_error *error);

/* How many of the first ids of both are the same, at most `most`. */
size_t graft_sequence_alike(const struct graft_sequence *a, const struct graft_sequence *b, size_t most);

#endif

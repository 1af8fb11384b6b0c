/* SPDX-License-Identifier: Apache-2.0 */
/* One sequence of a run: its tokens so far, how the next ones are chosen, and when it ends. */
#ifndef GRAFT_GENERATE_SEQUENCE_H
#define GRAFT_GENERATE_SEQUENCE_H

#include "generate/draft.h"
#include "generate/fields.h"
#include "generate/generate.h"
#include "generate/named_processors.h"
#include "generate/sampler.h"
#include "generate/stop_strings.h"

enum graft_sequence_stage {
    GRAFT_SEQUENCE_WAITS, /* waits for a slot or for memory */
    GRAFT_SEQUENCE_RUNS,
    GRAFT_SEQUENCE_IS_OVER /* has ended; its keys and values serve others until the slot is needed */
};

struct graft_team;

struct graft_sequence {
    int64_t number; /* number in the run, in the order of adding */
    enum graft_sequence_stage stage;
    int32_t slot;     /* -1 while it waits */
    int32_t adapter;  /* as in graft_batch */
    int32_t *ids;     /* [count + n_guesses] */
    size_t count;     /* number of tokens so far */
    size_t n_guesses; /* number of guesses after them, during a step */
    size_t capacity;
    size_t prompt;  /* how many of the tokens are the prompt */
    size_t reading; /* tokens before this index are fed like a prompt; grows when a sequence is fed again */
    size_t fed;     /* how many tokens the session holds */
    size_t shared;  /* tokens that the prompt has in common with another one, in whole pieces */
    size_t kept;    /* how many of those are already in a file */
    const struct graft_image *images;
    size_t n_images;
    int32_t *source; /* [n_source] the encoder's input */
    size_t n_source;
    struct graft_generation generation; /* max_new_tokens is set, whatever determined the length */
    struct graft_generation_fields *fields;
    struct graft_token_texts texts; /* texts of tokens, for stop strings */
    int32_t *stops;                 /* [n_stops]: ids that end the sequence */
    size_t n_stops;
    int gives_logits; /* whether the caller asked for logits */
    int64_t most;     /* positions of the model; 0: no limit */
    int64_t bytes;    /* bytes of the run's budget that are reserved for it */
    struct graft_draft draft;
    struct graft_processor_states states; /* states of logits processors, in the process that chooses tokens */
    struct graft_team *team;              /* sequences that take their tokens together with it; NULL: none */
    float *logits;                        /* [vocab_size], while it waits for the others of its team */
    int has_logits;
    int is_taken;     /* used while beams are reordered */
    size_t result;    /* index of the result that the new token belongs to */
    size_t n_results; /* number of results; 0 and 1: one */
    struct graft_sampler_state state;
};

/* Creates a sequence with this prompt. Everything is copied except the images, which stay the caller's; NULL if memory
 * ran out. `generation->seed` and `draws` determine the random numbers. */
struct graft_sequence *graft_sequence_create(const struct graft_ids_view *prompt,
                                             const struct graft_generation *generation, const int32_t *stops,
                                             size_t n_stops, size_t draws);
void graft_sequence_free(struct graft_sequence *sequence);

/* Sets the logits processors of a sequence. Names and settings that the caller gave are taken from the sequence's own
 * copy of its generation. */
void graft_sequence_use_processors(struct graft_sequence *sequence, const struct graft_named_processors *processors);

/* Reserves room for `more` ids after the existing ones. */
int graft_sequence_reserve(struct graft_sequence *sequence, size_t more, struct graft_error *error);

/* How many tokens it may still get. */
size_t graft_sequence_left(const struct graft_sequence *sequence);

/* Describes the sequence for choosing its next token. */
struct graft_choice graft_sequence_choice(const struct graft_sequence *sequence);

/* Appends the next token; there must be room. `*end` becomes the reason why the sequence ends with it, as in
 * graft/host/sequences.h; 0: it continues. */
int graft_sequence_append(struct graft_sequence *sequence, int32_t id, int32_t *end, struct graft_error *error);

/* Finds the reason why the sequence would end with that token, which is written after its ids; there must be room. */
int graft_sequence_find_end(struct graft_sequence *sequence, int32_t id, int32_t *end, struct graft_error *error);

/* [forward] Starts its logits processors, unless they have been started. */
int graft_sequence_start_processors(struct graft_sequence *sequence, int64_t vocab_size, struct graft_error *error);

/* How many of the first ids of both are the same, at most `most`. */
size_t graft_sequence_alike(const struct graft_sequence *a, const struct graft_sequence *b, size_t most);

#endif

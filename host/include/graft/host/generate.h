/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generating text, and what else a model says of prompts.
 *
 *     graft_model_load(model, &error);
 *     graft_model_generate(model, prompts, 1, NULL, on_token, data, &error);
 *
 * Elements of arrays, those that these functions take and those that they return, are reached by graft_struct_at
 * (abi.h).
 */
#ifndef GRAFT_HOST_GENERATE_H
#define GRAFT_HOST_GENERATE_H

#include <stddef.h>
#include <stdint.h>

#include "graft/error.h"
#include "graft/image.h"

#ifdef __cplusplus
extern "C" {
#endif

struct graft_logits_processor;
struct graft_model;

/* A prompt: `count` token ids and their images (graft/host/image.h). Each run of image tokens takes one image, in
 * order, and has one token for each of its merged patches. */
struct graft_prompt {
    uint32_t struct_size;
    uint32_t reserved;
    const int32_t *ids;               /* [count] */
    size_t count;                     /* tokens; > 0 */
    const struct graft_image *images; /* [n_images] and videos, which take runs of video tokens: graft_struct_at */
    size_t n_images;
    /* The only adapter that takes effect on this prompt and what follows it, by its name, or GRAFT_BASE_MODEL; NULL:
     * all adapters of the model. An error (GRAFT_ERROR_USAGE) where a class applies its adapters to all sequences. */
    const char *adapter;
    /* For a model with an encoder, which reads `ids`: the tokens that the decoder has generated so far, beginning with
     * its start token. With none, it begins with that token alone. New tokens are counted from here. */
    const int32_t *decoder_ids; /* [n_decoder_ids] */
    size_t n_decoder_ids;
};

#define GRAFT_PROMPT_SIZE_1_0 GRAFT_END_OF(struct graft_prompt, adapter)

/* --- How --- */

/* Some token ids. Never grows. */
struct graft_id_list {
    const int32_t *ids; /* [n] */
    size_t n;           /* how many */
};

/* A sequence of tokens, and what is added to the score of its last one where the others are there. Never grows. */
struct graft_sequence_bias {
    const int32_t *ids; /* [n], at least one */
    size_t n;           /* how many */
    double bias;        /* finite */
};

/*
 * A logits processor (graft/logits_processor.h) for the sequences of one call, with its setting. This struct never
 * grows.
 *
 *     const struct graft_processor_choice choice = {.name = "json_schema", .setting = "{\"type\": \"object\"}"};
 *     generation.processors = &choice;
 *     generation.n_processors = 1;
 *     graft_sequences_add(sequences, &prompt, &options, &number, &error);
 *
 * Each sequence has a state of its own: the processor's `create` is given `setting` and `data`, `process` sees the
 * logits before a token is chosen, and `accept` hears of the token.
 */
struct graft_processor_choice {
    /* The program's own, of the size that this header gives it; NULL: the one that a plugin offers as `name`. */
    const struct graft_logits_processor *processor;
    const char *name;    /* of the plugin's processor; with `processor` set, a name for messages or NULL */
    const char *setting; /* text; NULL: "" */
    void *data; /* given to `create`; it and `processor` must live until the sequence has ended or is removed */
};

/* early_stopping: when beam search ends. */
enum {
    GRAFT_EARLY_STOPPING_FALSE = 0, /* when no beam is likely to become better than the worst that is finished */
    GRAFT_EARLY_STOPPING_TRUE = 1,  /* as soon as num_beams are finished */
    GRAFT_EARLY_STOPPING_NEVER = 2  /* when no beam can become better than the worst that is finished */
};

/*
 * graft_model_generation fills it with a model's defaults; change what you want. Members are named as in
 * generation_config.json, and mean what they mean in transformers 5.23; docs/cli.md says in which order they take
 * effect. 0, and a list of none, is "off" where nothing else is said.
 *
 * What members point to belongs to whoever set them: in what graft_model_generation filled in, to the model, as long as
 * there is one; in what graft_generation_read filled in, to its `fields`. Functions that are given the struct read it
 * until they return; graft_sequences_add copies everything.
 */
struct graft_generation {
    uint32_t struct_size;
    int32_t do_sample;         /* 0: take the token with the largest logit */
    int64_t max_new_tokens;    /* per sequence; >= 0; or -1: max_length decides */
    double temperature;        /* > 0: logits are divided by it */
    int64_t top_k;             /* only the k largest logits, and those equal to the k-th; 0: all */
    double top_p;              /* (0, 1]: only the most probable tokens that together reach this */
    double repetition_penalty; /* > 0: divides positive logits of earlier tokens, multiplies negative ones; 1: off */
    uint64_t seed;             /* the same seed, model and prompt give the same text */
    int32_t ignore_eos;        /* 1: always go on to max_new_tokens */
    /* Guesses this many tokens at most from what the sequence said before, and checks them in one forward (prompt
     * look-up). Never changes what is generated; 0: off. With beams and guidance nothing is guessed. */
    int32_t speculate;

    /* How long, counted in tokens. */
    int64_t max_length;     /* of prompt and new tokens, where max_new_tokens is -1; a prompt that long is an error */
    int64_t min_length;     /* before prompt and new tokens are as many, none of the end-of-sequence ids is chosen */
    int64_t min_new_tokens; /* likewise, of new tokens */

    /* What may be said. */
    struct graft_id_list suppress_tokens;            /* never */
    struct graft_id_list begin_suppress_tokens;      /* not first */
    const struct graft_id_list *bad_words_ids;       /* [n_bad_words_ids] sequences that are never completed */
    size_t n_bad_words_ids;                          /* how many */
    const struct graft_sequence_bias *sequence_bias; /* [n_sequence_bias] */
    size_t n_sequence_bias;                          /* how many */
    int64_t no_repeat_ngram_size;                    /* no sequence of so many tokens occurs twice, prompt included */
    int64_t encoder_no_repeat_ngram_size;            /* nor one that the prompt has */
    double encoder_repetition_penalty;        /* multiplies positive logits of the prompt's tokens; 0 and 1: off */
    struct graft_id_list forced_bos_token_id; /* at most one: it follows a prompt of one token */
    struct graft_id_list forced_eos_token_id; /* one of these is the last token that the length allows */
    /* exponential_decay_length_penalty: behind so many new tokens, ... */
    int64_t exponential_decay_start;
    /* ... the scores of end-of-sequence ids grow by this to the power of how many more there are; 0 and 1: off. */
    double exponential_decay_factor;
    int32_t remove_invalid_values;   /* 1: NaN becomes 0, infinities the largest and smallest finite number */
    int32_t renormalize_logits;      /* 1: scores become logarithms of probabilities in the end, which beams add up */
    const char *const *stop_strings; /* [n_stop_strings] texts that end a sequence, with what is left of their token */
    size_t n_stop_strings;           /* how many */

    /* What is left to draw from; without do_sample they have no effect. */
    double min_p;          /* tokens that are at least so probable, relative to the most probable one */
    double typical_p;      /* (0, 1): those whose surprise is closest to the expected one, until they reach this */
    double epsilon_cutoff; /* (0, 1): those that are at least so probable */
    double eta_cutoff;     /* (0, 1): the same, less where the entropy is high */
    double top_h;          /* (0, 1]: the most probable of 100 that together reach this part of their entropy */

    /* Several ways at once. */
    int64_t num_beams;            /* 0 and 1: no beams */
    double length_penalty;        /* a finished beam's score is divided by its new tokens to the power of this */
    int32_t early_stopping;       /* GRAFT_EARLY_STOPPING_... */
    uint32_t reserved;            /* 0 */
    int64_t num_return_sequences; /* results for each prompt: sampled, or the best beams; 0 and 1: one */

    /* The logits move from what they are without the prompt (only its last token) to what they are with it, and so many
     * times as far; 0 and 1: off. Not with beams. */
    double guidance_scale;

    /* What plugins offer by name (graft/logits_processor.h), in the order in which they run. */
    const char *const *logits_processors; /* [n_logits_processors] */
    size_t n_logits_processors;           /* how many */
    /* [n_processors] chosen for these sequences; they run after logits_processors. Both together are at most 16. */
    const struct graft_processor_choice *processors;
    size_t n_processors; /* how many */
};

#define GRAFT_GENERATION_SIZE_1_0 GRAFT_END_OF(struct graft_generation, speculate)

/* What lists of a struct graft_generation point to. */
struct graft_generation_fields;

/* [any] Reads an object of fields as generation_config.json has them, `length` bytes of JSON, over `generation`, whose
 * struct_size is this version's: fields that it does not have stay as they are. A maximum length in it takes the place
 * of the other one (max_length, max_new_tokens). A field that is wrong, or asks for what is not done, is an error
 * (GRAFT_ERROR_USAGE) that names it; `source` is where errors say that the text is from. `*fields`, which is NULL on
 * failure, is the caller's, to be given to graft_generation_fields_free when `generation` is not used any more. */
int graft_generation_read(const char *json, size_t length, const char *source, struct graft_generation *generation,
                          struct graft_generation_fields **fields, struct graft_error *error);

/* [any] Accepts NULL. */
void graft_generation_fields_free(struct graft_generation_fields *fields);

/* --- Runs --- */

/* Why a sequence has ended. */
enum {
    GRAFT_SEQUENCE_RUNNING = 0,
    GRAFT_SEQUENCE_STOPPED = 1,         /* by an end-of-sequence id or a stop id, which is its last token */
    GRAFT_SEQUENCE_COMPLETE = 2,        /* it has max_new_tokens */
    GRAFT_SEQUENCE_OUT_OF_POSITIONS = 3 /* the model has no position for its next token */
};

/* A new token, of graft_sequences_step or graft_model_generate_tokens. */
struct graft_sequence_token {
    uint32_t struct_size;
    int32_t id;          /* the token; below the vocabulary size */
    int64_t sequence;    /* the number that graft_sequences_add gave; that of the prompt */
    int32_t end;         /* GRAFT_SEQUENCE_...: of its sequence's last token, why that ends */
    int32_t reserved;    /* 0 */
    const float *logits; /* [vocab_size], if they were asked for; else NULL */
};

/* [any] Called for each new token, on the thread that generates; `last` is 1 for the one that ends its sequence. With
 * num_return_sequences prompt number i has the sequences from i * num_return_sequences on; those of beams come when the
 * prompt is done. Any status but GRAFT_OK stops generation. */
typedef int (*graft_token_function)(void *data, size_t sequence, int32_t id, int last, struct graft_error *error);

/* [any] Fills `generation`, whose struct_size is set, with the settings of the model directory (generation_config.json)
 * and our defaults for the rest. Its struct_size is then how much of it is filled. */
void graft_model_generation(const struct graft_model *model, struct graft_generation *generation);

/* [any, one thread per model] Generates from `n` prompts as one ragged batch, each until an end-of-sequence id or the
 * maximum. `generation` NULL: as the model directory says. A prompt that the model cannot take (no tokens, ids
 * outside its vocabulary, more of them than it has positions for) is GRAFT_ERROR_USAGE, here and below. */
int graft_model_generate(struct graft_model *model, const struct graft_prompt *prompts, size_t n,
                         const struct graft_generation *generation, graft_token_function on_token, void *data,
                         struct graft_error *error);

/* [any] Called for each new token, on the thread that generates. `token->sequence` is as of graft_token_function.
 * `token->logits` are those that the model gave, before penalties, temperature and the like; NULL with beams, and where
 * another process has chosen the token. Both are valid during the call. Any status but GRAFT_OK stops generation. */
typedef int (*graft_generated_function)(void *data, const struct graft_sequence_token *token,
                                        struct graft_error *error);

/* [any, one thread per model] graft_model_generate for who wants to know why a sequence ends, or how probable its
 * tokens are. */
int graft_model_generate_tokens(struct graft_model *model, const struct graft_prompt *prompts, size_t n,
                                const struct graft_generation *generation, graft_generated_function on_token,
                                void *data, struct graft_error *error);

/* [any, one thread per model] The logits of every position of `n` prompts, one ragged batch: [sum of counts,
 * vocab_size] f32, one prompt after another, into the caller's memory. Of a model with an encoder they are the logits
 * of decoder_ids. A prompt without these gets as many positions as it has tokens: decoder_ids are then the start token
 * and the prompt without its last token. */
int graft_model_logits(struct graft_model *model, const struct graft_prompt *prompts, size_t n, float *logits,
                       struct graft_error *error);

/* --- Perplexity --- */

/*
 * How well a model predicts a text: perplexity, exp of the mean negative log likelihood.
 *
 * The text's ids are cut into windows that do not overlap. Within a window each token but the first is predicted from
 * those before it. The last window may be shorter; a single token left over is not predicted. The mean is over all
 * predicted tokens, so a short window counts by its tokens (transformers' recipe with a stride of one window).
 */

#define GRAFT_PERPLEXITY_WINDOW 512

struct graft_perplexity_options {
    uint32_t struct_size;
    uint32_t reserved;
    int64_t window; /* tokens, 2 or more; 0: GRAFT_PERPLEXITY_WINDOW, or all positions of a model with fewer */
    /* [any] Called on the calling thread with the number of tokens read and of all tokens; may be NULL. Any status but
     * GRAFT_OK stops. */
    int (*on_progress)(void *data, int64_t done, int64_t total, struct graft_error *error);
    void *data; /* the caller's own, for on_progress */
};

#define GRAFT_PERPLEXITY_OPTIONS_SIZE_1_0 GRAFT_END_OF(struct graft_perplexity_options, data)

struct graft_perplexity {
    uint32_t struct_size;
    uint32_t reserved;
    int64_t window;    /* tokens of each but the last */
    int64_t windows;   /* that predicted something */
    int64_t predicted; /* tokens */
    double mean;       /* negative log likelihood of a predicted token, in nats */
    double perplexity; /* exp(mean) */
};

#define GRAFT_PERPLEXITY_SIZE_1_0 GRAFT_END_OF(struct graft_perplexity, perplexity)

/* [any, one thread per model] `ids` [n] are used unchanged: no token is added. Fewer than two are an error.
 * Fills `result`, whose struct_size is set. Memory holds the logits of one window at a time (or of several small ones).
 * `options` may be NULL. */
int graft_model_perplexity(struct graft_model *model, const int32_t *ids, size_t n,
                           const struct graft_perplexity_options *options, struct graft_perplexity *result,
                           struct graft_error *error);

#ifdef __cplusplus
}
#endif

#endif

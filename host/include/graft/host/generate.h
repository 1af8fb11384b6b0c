/* SPDX-License-Identifier: Apache-2.0 */
/* Generates text, and computes logits and perplexity of texts.
 *
 *     graft_model_load(model, &error);
 *     graft_model_generate(model, prompts, 1, NULL, on_token, data, &error);
 *
 * Get elements of arrays, both of those that are passed and of those that are returned, with graft_struct_at (abi.h).
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
    const int32_t *ids; /* [count] */
    size_t count;       /* number of tokens; > 0 */
    const struct graft_image
        *images; /* [n_images] images, and videos, for which there are runs of video tokens: graft_struct_at */
    size_t n_images;
    /* Name of the only adapter that applies to this prompt and its continuation, or GRAFT_BASE_MODEL for none; NULL:
     * all adapters of the model. GRAFT_ERROR_USAGE if a class can only apply its adapters to all sequences. */
    const char *adapter;
    /* For a model with an encoder, which reads `ids`: the tokens that the decoder has generated so far, beginning with
     * its start token; by default that token alone. New tokens are counted from here. */
    const int32_t *decoder_ids; /* [n_decoder_ids] */
    size_t n_decoder_ids;
};

#define GRAFT_PROMPT_SIZE_1_0 GRAFT_END_OF(struct graft_prompt, adapter)

/* --- Settings --- */

/* A list of token ids. This struct never grows. */
struct graft_id_list {
    const int32_t *ids; /* [n] */
    size_t n;           /* how many */
};

/* A sequence of tokens, and a bias that is added to the score of its last token where the others precede. This struct
 * never grows. */
struct graft_sequence_bias {
    const int32_t *ids; /* [n] at least one */
    size_t n;           /* how many */
    double bias;        /* finite */
};

/* A logits processor (graft/logits_processor.h) for the sequences of one call, with its setting. This struct never
 * grows.
 *
 *     const struct graft_processor_choice choice = {.name = "json_schema", .setting = "{\"type\": \"object\"}"};
 *     generation.processors = &choice;
 *     generation.n_processors = 1;
 *     graft_sequences_add(sequences, &prompt, &options, &number, &error);
 *
 * Each sequence has a state of its own: the processor's `create` gets `setting` and `data`, `process` changes the
 * scores before a token is chosen, and `accept` gets the token. */
struct graft_processor_choice {
    /* The program's own processor, with the size that this header gives the struct; NULL: the one that a plugin offers
     * under `name`. */
    const struct graft_logits_processor *processor;
    const char *name;    /* name of a plugin's processor; if `processor` is set, a name for messages or NULL */
    const char *setting; /* text; NULL: "" */
    void *data; /* passed to `create`; like `processor` it must live until the sequence has ended or is removed */
};

/* When beam search ends (early_stopping). */
enum {
    GRAFT_EARLY_STOPPING_FALSE = 0, /* when no beam is likely to become better than the worst finished one */
    GRAFT_EARLY_STOPPING_TRUE = 1,  /* as soon as num_beams are finished */
    GRAFT_EARLY_STOPPING_NEVER = 2  /* when no beam can become better than the worst finished one */
};

/* Generation settings. graft_model_generation fills in a model's defaults; change what you want. Members have the names
 * and meanings of generation_config.json in transformers 5.23; docs/cli.md says in which order they apply. 0, and an
 * empty list, means "off" unless stated otherwise.
 *
 * What members point to belongs to whoever set them: what graft_model_generation set belongs to the model and lives as
 * long; what graft_generation_read set belongs to its `fields`. Functions read the struct until they return;
 * graft_sequences_add copies everything. */
struct graft_generation {
    uint32_t struct_size;
    int32_t do_sample;         /* 0: always take the token with the largest logit */
    int64_t max_new_tokens;    /* per sequence; >= 0; -1: max_length applies */
    double temperature;        /* > 0: divides the logits */
    int64_t top_k;             /* keeps the k largest logits, and those equal to the k-th; 0: all */
    double top_p;              /* (0, 1]: keeps the most probable tokens that together reach this probability */
    double repetition_penalty; /* > 0: divides positive logits of earlier tokens, multiplies negative ones; 1: off */
    uint64_t seed;             /* the same seed, model and prompt give the same text */
    int32_t ignore_eos;        /* 1: continue to max_new_tokens */
    /* Guesses up to this many tokens from the sequence's earlier text, and verifies them in one forward (prompt
     * look-up). Never changes the result; 0: off. Has no effect with beams or guidance. */
    int32_t speculate;

    /* Length, counted in tokens. */
    int64_t max_length;     /* of prompt and new tokens, if max_new_tokens is -1; a longer prompt is an error */
    int64_t min_length;     /* no end-of-sequence id is chosen before prompt and new tokens are this many */
    int64_t min_new_tokens; /* the same for new tokens only */

    /* Tokens that are forbidden, penalised or forced. */
    struct graft_id_list suppress_tokens;       /* never */
    struct graft_id_list begin_suppress_tokens; /* not first */
    const struct graft_id_list *bad_words_ids;  /* [n_bad_words_ids] sequences of tokens that are never completed */
    size_t n_bad_words_ids;                     /* how many */
    const struct graft_sequence_bias *sequence_bias; /* [n_sequence_bias] */
    size_t n_sequence_bias;                          /* how many */
    int64_t no_repeat_ngram_size;         /* no sequence of this many tokens occurs twice, including in the prompt */
    int64_t encoder_no_repeat_ngram_size; /* no sequence of this many tokens of the prompt is repeated */
    double encoder_repetition_penalty;    /* multiplies positive logits of the prompt's tokens; 0 and 1: off */
    struct graft_id_list forced_bos_token_id; /* at most one id, which follows a prompt of one token */
    struct graft_id_list forced_eos_token_id; /* the last token that the length allows is one of these */
    /* exponential_decay_length_penalty: after this many new tokens, ... */
    int64_t exponential_decay_start;
    /* ... the scores of end-of-sequence ids grow by this factor to the power of the number of further tokens; 0 and 1:
     * off. */
    double exponential_decay_factor;
    int32_t remove_invalid_values; /* 1: NaN becomes 0, infinities the largest and smallest finite number */
    int32_t renormalize_logits;    /* 1: scores finally become log probabilities, which beams add up */
    const char *const
        *stop_strings;     /* [n_stop_strings] texts that end a sequence; the rest of their last token is kept */
    size_t n_stop_strings; /* how many */

    /* Which tokens are drawn from; no effect without do_sample. */
    double min_p;     /* keeps tokens whose probability, relative to the most probable one, is at least this */
    double typical_p; /* (0, 1): keeps the tokens whose surprise is closest to the expected one, until they reach this
                         probability */
    double epsilon_cutoff; /* (0, 1): keeps tokens of at least this probability */
    double eta_cutoff;     /* (0, 1): the same, with a lower threshold where the entropy is high */
    double
        top_h; /* (0, 1]: of the 100 most probable tokens, keeps those that together reach this part of their entropy */

    /* Several continuations at once. */
    int64_t num_beams; /* 0 and 1: no beams */
    double
        length_penalty; /* the score of a finished beam is divided by its number of new tokens to the power of this */
    int32_t early_stopping;       /* GRAFT_EARLY_STOPPING_... */
    uint32_t reserved;            /* 0 */
    int64_t num_return_sequences; /* results per prompt: samples, or the best beams; 0 and 1: one */

    /* Classifier-free guidance: logits move from those without the prompt (only its last token) towards those with it,
     * and this factor scales the step; 0 and 1: off. Not with beams. */
    double guidance_scale;

    /* Names of plugins' processors (graft/logits_processor.h), in the order in which they run. */
    const char *const *logits_processors; /* [n_logits_processors] */
    size_t n_logits_processors;           /* how many */
    /* [n_processors] processors for these sequences, which run after logits_processors. Both together are at most 16.
     */
    const struct graft_processor_choice *processors;
    size_t n_processors; /* how many */
};

#define GRAFT_GENERATION_SIZE_1_0 GRAFT_END_OF(struct graft_generation, speculate)

/* Owns the lists of a struct graft_generation. */
struct graft_generation_fields;

/* [any] Reads an object of fields as in generation_config.json, `length` bytes of JSON, into `generation`, whose
 * struct_size is this version's; members whose fields are absent are unchanged. A maximum length in it replaces the
 * other kind (max_length, max_new_tokens). A field that is wrong, asks for something unsupported, or is not read here
 * although it may have an effect, is GRAFT_ERROR_USAGE and named in the message; `source` is the name of the text
 * there. The caller frees `*fields`, which is NULL on failure, with graft_generation_fields_free once `generation` is
 * no longer used. */
int graft_generation_read(const char *json, size_t length, const char *source, struct graft_generation *generation,
                          struct graft_generation_fields **fields, struct graft_error *error);

/* [any] Accepts NULL. */
void graft_generation_fields_free(struct graft_generation_fields *fields);

/* --- Generating --- */

/* Why a sequence has ended. */
enum {
    GRAFT_SEQUENCE_RUNNING = 0,
    GRAFT_SEQUENCE_STOPPED = 1,         /* with an end-of-sequence id or a stop id, which is its last token */
    GRAFT_SEQUENCE_COMPLETE = 2,        /* it has max_new_tokens */
    GRAFT_SEQUENCE_OUT_OF_POSITIONS = 3 /* the model has no position for another token */
};

/* A new token, from graft_sequences_step or graft_model_generate_tokens. */
struct graft_sequence_token {
    uint32_t struct_size;
    int32_t id;          /* the token's id; below the vocabulary size */
    int64_t sequence;    /* the number from graft_sequences_add, or the index of the prompt */
    int32_t end;         /* GRAFT_SEQUENCE_...: for its sequence's last token, why the sequence ends */
    int32_t reserved;    /* 0 */
    const float *logits; /* [vocab_size] if they were asked for; else NULL */
};

/* [any] Called for each new token, on the thread that generates; `last` is 1 for the last token of its sequence. With
 * num_return_sequences, prompt i has the sequences from i * num_return_sequences on; with beams they are reported when
 * the prompt is done. Any status but GRAFT_OK stops generation. */
typedef int (*graft_token_function)(void *data, size_t sequence, int32_t id, int last, struct graft_error *error);

/* [any] Fills in `generation`, whose struct_size is set, with the settings of the model directory
 * (generation_config.json), and the library's defaults for the rest. Its struct_size then says how much was filled in.
 */
void graft_model_generation(const struct graft_model *model, struct graft_generation *generation);

/* [any, one thread per model] Generates from `n` prompts as one ragged batch, each until an end-of-sequence id or the
 * maximum length. `generation` NULL: the model directory's settings. A prompt that the model cannot process (no tokens,
 * ids outside of its vocabulary, more tokens than it has positions for) is GRAFT_ERROR_USAGE, here and below. */
int graft_model_generate(struct graft_model *model, const struct graft_prompt *prompts, size_t n,
                         const struct graft_generation *generation, graft_token_function on_token, void *data,
                         struct graft_error *error);

/* [any] Called for each new token, on the thread that generates. `token->sequence` is numbered as for
 * graft_token_function. `token->logits` are those of the model, before penalties, temperature and the like; NULL with
 * beams, and if another process chose the token. Both are valid during the call. Any status but GRAFT_OK stops
 * generation. */
typedef int (*graft_generated_function)(void *data, const struct graft_sequence_token *token,
                                        struct graft_error *error);

/* [any, one thread per model] Like graft_model_generate, for callers that need to know why a sequence ends, or its
 * tokens' logits. */
int graft_model_generate_tokens(struct graft_model *model, const struct graft_prompt *prompts, size_t n,
                                const struct graft_generation *generation, graft_generated_function on_token,
                                void *data, struct graft_error *error);

/* [any, one thread per model] Computes the logits of every position of `n` prompts, as one ragged batch: [sum of
 * counts, vocab_size] f32, one prompt after another, into the caller's memory. For a model with an encoder they are the
 * logits of decoder_ids; by default these are the start token and the prompt without its last token, so there are as
 * many positions as the prompt has tokens. */
int graft_model_logits(struct graft_model *model, const struct graft_prompt *prompts, size_t n, float *logits,
                       struct graft_error *error);

/* --- Perplexity --- */

/* Perplexity, a measure of how well a model predicts a text: exp of the mean negative log likelihood. The text's ids
 * are divided into windows that do not overlap. Within a window each token but the first is predicted from those before
 * it. The last window may be shorter; a single token left over is not predicted. The mean is over all predicted tokens,
 * so a short window has less weight (transformers' recipe with a stride of one window). */

#define GRAFT_PERPLEXITY_WINDOW 512

struct graft_perplexity_options {
    uint32_t struct_size;
    uint32_t reserved;
    int64_t
        window; /* tokens per window, 2 or more; 0: GRAFT_PERPLEXITY_WINDOW, or all positions of a model with fewer */
    /* [any] Called on the calling thread with the number of tokens processed and the total; may be NULL. Any status but
     * GRAFT_OK stops the computation. */
    int (*on_progress)(void *data, int64_t done, int64_t total, struct graft_error *error);
    void *data; /* passed to on_progress */
};

#define GRAFT_PERPLEXITY_OPTIONS_SIZE_1_0 GRAFT_END_OF(struct graft_perplexity_options, data)

struct graft_perplexity {
    uint32_t struct_size;
    uint32_t reserved;
    int64_t window;    /* tokens of each window but the last */
    int64_t windows;   /* number of windows with a prediction */
    int64_t predicted; /* tokens */
    double mean;       /* mean negative log likelihood of a predicted token, in nats */
    double perplexity; /* exp(mean) */
};

#define GRAFT_PERPLEXITY_SIZE_1_0 GRAFT_END_OF(struct graft_perplexity, perplexity)

/* [any, one thread per model] Computes the perplexity of `ids` [n], which are used unchanged: no token is added. Fewer
 * than two are an error. Fills in `result`, whose struct_size is set. Memory holds the logits of one window at a time
 * (or of several small ones). `options` may be NULL. */
int graft_model_perplexity(struct graft_model *model, const int32_t *ids, size_t n,
                           const struct graft_perplexity_options *options, struct graft_perplexity *result,
                           struct graft_error *error);

#ifdef __cplusplus
}
#endif

#endif

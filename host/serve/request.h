/* SPDX-License-Identifier: Apache-2.0 */
/* A client's request: its body, read and checked. */
#ifndef GRAFT_SERVE_REQUEST_H
#define GRAFT_SERVE_REQUEST_H

#include "base/json.h"
#include "graft/host/chat.h"
#include "graft/host/generate.h"
#include "graft/host/tokenizer.h"
#include "graft/image.h"
#include "serve/fault.h"

enum graft_request_kind {
    GRAFT_REQUEST_COMPLETION = 1,
    GRAFT_REQUEST_CHAT = 2,
    GRAFT_REQUEST_EMBEDDING = 4,
    GRAFT_REQUEST_TOKENIZE = 8,
    GRAFT_REQUEST_DETOKENIZE = 16
};

enum {
    GRAFT_REQUEST_MAX_CHOICES = 128,
    GRAFT_REQUEST_MAX_STOPS = 16,
    GRAFT_REQUEST_MAX_TOP = 20,
    GRAFT_REQUEST_MAX_PROMPTS = 256,
    GRAFT_REQUEST_MAX_IMAGES = 64
};

/* What reading a request depends on. A test can fill it in without a model. */
struct graft_request_context {
    const char *name; /* name of the model */
    const char *const *adapters;
    size_t n_adapters;
    int64_t vocab_size;
    int64_t max_new_tokens;                    /* default for answers */
    const struct graft_generation *generation; /* defaults of the model directory */
};

struct graft_request {
    enum graft_request_kind kind;
    graft_json *document; /* owns the strings that other members point to */
    const char *model;    /* the model asked for, or the server's name for it */
    const char *adapter;  /* as in struct graft_prompt; NULL: the model has no adapters */
    int stream;
    int include_usage;
    int64_t n; /* answers for each prompt */
    int64_t max_tokens;
    int has_seed;
    int wants_logprobs;
    int64_t n_top; /* number of most probable tokens to report at each place */
    int echo;
    int is_base64;      /* for embeddings */
    int service_tier;   /* changes nothing */
    int add_special;    /* for tokenize */
    int skip_special;   /* 0: special tokens stay in the text of answers */
    int with_tools;     /* 1: tool calls are parsed */
    int parallel_calls; /* 0: at most one tool call */
    double frequency_penalty;
    double presence_penalty;
    struct graft_text_view stops[GRAFT_REQUEST_MAX_STOPS];
    size_t n_stops;
    struct graft_generation generation;
    struct graft_sequence_bias *biases; /* [n] of logit_bias */
    int32_t *bias_ids;
    int32_t *stop_ids; /* [n_stop_ids] */
    size_t n_stop_ids;
    int32_t format_kind;                         /* GRAFT_GRAMMAR_...: the kind of format; 0: any text */
    char *format;                                /* text of the schema or grammar */
    const char *format_name;                     /* name of the field that asks for it */
    struct graft_processor_choice processors[1]; /* the processor that enforces it */
    size_t n_processors;
    struct graft_image *images; /* [n_images] in the order of their parts in the messages */
    size_t n_images;
    int64_t image_bytes; /* bytes of their pixel values */
    /* Values of the document; NULL if absent. */
    const graft_json *prompt;
    const graft_json *messages;
    const graft_json *tools;
    const graft_json *tool_choice;
    const graft_json *documents;
    const graft_json *variables;
    const graft_json *ids; /* for detokenize */
    int add_generation_prompt;
    int continue_final_message;
};

/* Finds a model by the name that clients use: "NAME", or "NAME:ADAPTER", which sets `*adapter`. Returns 0 if there is
 * none. */
int graft_request_find_model(const struct graft_request_context *context, const char *asked, const char **adapter);

/* Reads a body. Returns 0, or -1 with `fault` set. The caller calls graft_request_finish, even on failure. */
int graft_request_read(const char *body, size_t length, enum graft_request_kind kind,
                       const struct graft_request_context *context, struct graft_request *request,
                       struct graft_fault *fault);
void graft_request_finish(struct graft_request *request);

/* Reads the images in the messages, parts of type "image_url" with a data: URL, which become parts of type "image". A
 * part that is neither text nor image is a fault. `model` may be NULL: no images. `*processor` is opened when the first
 * image is read; the caller frees it. */
struct graft_image_processor;
int graft_request_has_images(const struct graft_request *request);
int graft_request_read_images(struct graft_request *request, const struct graft_model *model,
                              struct graft_image_processor **processor, struct graft_fault *fault);

/* Encodes the prompts as `*prompts` [*n], which the caller frees with graft_request_prompts_free, even on failure. */
int graft_request_encode(const struct graft_request *request, const struct graft_tokenizer *tokenizer,
                         const struct graft_chat_template *chat, int64_t vocab_size, struct graft_ids **prompts,
                         size_t *n, struct graft_fault *fault);
void graft_request_prompts_free(struct graft_ids *prompts, size_t n);

#endif

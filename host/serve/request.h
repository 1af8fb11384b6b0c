/* SPDX-License-Identifier: Apache-2.0 */
/* What a client asks for: the body of a request, read and checked. */
#ifndef GRAFT_SERVE_REQUEST_H
#define GRAFT_SERVE_REQUEST_H

#include "base/json.h"
#include "graft/host/chat.h"
#include "graft/host/generate.h"
#include "graft/host/tokenizer.h"
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
    GRAFT_REQUEST_MAX_PROMPTS = 256
};

/* What requests are read by: the model's, which a test can do without. */
struct graft_request_context {
    const char *name; /* of the model */
    const char *const *adapters;
    size_t n_adapters;
    int64_t vocab_size;
    int64_t max_new_tokens;                    /* of an answer that does not say */
    const struct graft_generation *generation; /* of the model directory */
};

struct graft_request {
    enum graft_request_kind kind;
    graft_json *document; /* has the texts that others point to */
    const char *model;    /* as it was asked for, or the server's own */
    const char *adapter;  /* as in struct graft_prompt; NULL: the model has none */
    int stream;
    int include_usage;
    int64_t n; /* answers for each prompt */
    int64_t max_tokens;
    int has_seed;
    int has_temperature;
    int asks_for_chance;
    int wants_logprobs;
    int n_top; /* the most probable tokens at each place */
    int echo;
    int is_base64;      /* embeddings */
    int add_special;    /* tokenize */
    int keeps_special;  /* answers keep special tokens in their text */
    int with_tools;     /* calls are looked for */
    int parallel_calls; /* 0: at most one call */
    double frequency_penalty;
    double presence_penalty;
    struct graft_text_view stops[GRAFT_REQUEST_MAX_STOPS];
    size_t n_stops;
    struct graft_generation generation;
    struct graft_sequence_bias *biases; /* [n] of logit_bias */
    int32_t *bias_ids;
    int32_t *stop_ids; /* [n_stop_ids] */
    size_t n_stop_ids;
    int32_t format_kind;                         /* GRAFT_GRAMMAR_... of what the answer has to be; 0: anything */
    char *format;                                /* its text */
    const char *format_name;                     /* of the field that asks for it */
    struct graft_processor_choice processors[1]; /* that sees to it */
    size_t n_processors;
    /* These are in the document, NULL where they are absent. */
    const graft_json *prompt;
    const graft_json *messages;
    const graft_json *tools;
    const graft_json *tool_choice;
    const graft_json *documents;
    const graft_json *variables;
    const graft_json *ids; /* detokenize */
    int add_generation_prompt;
    int continue_final_message;
};

/* Reads a body. 0; or -1 with `fault`. The caller gives `request` to graft_request_finish, also on failure. */
int graft_request_read(const char *body, size_t length, enum graft_request_kind kind,
                       const struct graft_request_context *context, struct graft_request *request,
                       struct graft_fault *fault);
void graft_request_finish(struct graft_request *request);

/* The ids of the prompts: `*prompts` [*n] is the caller's, to be given to graft_prompts_free, also on failure. */
int graft_request_encode(const struct graft_request *request, const struct graft_tokenizer *tokenizer,
                         const struct graft_chat_template *chat, int64_t vocab_size, struct graft_ids **prompts,
                         size_t *n, struct graft_fault *fault);
void graft_request_prompts_free(struct graft_ids *prompts, size_t n);

#endif

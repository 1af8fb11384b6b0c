/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An HTTP server with OpenAI's API for a model (docs/serve.md), which programs can embed.
 *
 *     struct graft_server_options options = {.struct_size = sizeof options, .port = 8000};
 *     struct graft_server *server;
 *     graft_server_create(model, tokenizer, chat, &options, &server, &error);
 *     printf("port %d\n", (int)graft_server_port(server));
 *     graft_server_run(server, &error);      // until a signal handler or another thread calls graft_server_stop
 *     graft_server_free(server);
 *
 * An answer does not depend on other requests that run at the same time, to the bit (graft/host/sequences.h).
 */
#ifndef GRAFT_HOST_SERVE_H
#define GRAFT_HOST_SERVE_H

#include <stddef.h>
#include <stdint.h>

#include "graft/error.h"

#ifdef __cplusplus
extern "C" {
#endif

struct graft_chat_template;
struct graft_model;
struct graft_server;
struct graft_tokenizer;

struct graft_server_options {
    uint32_t struct_size;
    int32_t port;                /* 0: any free port; see graft_server_port */
    const char *address;         /* NULL: 127.0.0.1, reachable from this machine only */
    int32_t has_listening;       /* 1: the socket `listening` is used instead of address and port */
    int32_t listening;           /* a listening socket, such as systemd passes; the server closes it */
    const char *name;            /* the model's name for clients; must not be NULL */
    const char *const *adapters; /* [n_adapters] names of adapters: each is served as model "NAME:ADAPTER" */
    size_t n_adapters;           /* how many */
    const char *const *keys;     /* [n_keys] API keys, one of which clients must send; copied */
    size_t n_keys;               /* number of keys; 0: no key is needed */
    const char *cors_origin;     /* origin of pages that may call the server, "*": any; NULL: none */
    int32_t max_running;         /* answers generated at once; 0: 32 */
    int32_t max_waiting;         /* requests that may wait; further ones are refused; 0: 64 */
    int64_t max_cache_bytes;     /* as in struct graft_sequences_options */
    int64_t max_new_tokens;      /* default for requests; 0: as many as the model has positions for */
    int64_t max_body_bytes;      /* limit for a request; 0: 4 MiB, or 16 MiB for a model that takes images */
    int32_t timeout_seconds;     /* limit for an answer; 0: 600 */
    int32_t idle_seconds;        /* after which an inactive connection is closed; 0: 60 */
    /* An existing folder in which common beginnings of prompts are kept for the next run
     * (graft_sequences_save_shared_in); NULL: none. If nothing can be kept for the model, that is GRAFT_ERROR_USAGE. */
    const char *session_folder;
    int64_t session_bytes; /* size limit for its files; 0: 8 GiB */
    /* [any] Gets notes on problems that affect no answer, one line each, valid during the call; may be NULL. */
    void (*on_note)(void *data, const char *note);
    void *note_data; /* passed to on_note */
};

#define GRAFT_SERVER_OPTIONS_SIZE_1_0 GRAFT_END_OF(struct graft_server_options, note_data)

/* [load] Creates a server and opens its socket. Model, tokenizer and `chat` must outlive the server; `chat` is NULL for
 * a model without a chat template. Until graft_server_free nothing else may use the model. An address that is not
 * available is GRAFT_ERROR_IO. The caller frees the server. */
int graft_server_create(struct graft_model *model, const struct graft_tokenizer *tokenizer,
                        const struct graft_chat_template *chat, const struct graft_server_options *options,
                        struct graft_server **server, struct graft_error *error);

/* [any] The port that the server listens on; 0 for a socket without a port. */
int32_t graft_server_port(const struct graft_server *server);

/* [load] Serves requests, on this thread and on another one, until the server was stopped and all answers in progress
 * have been sent. */
int graft_server_run(struct graft_server *server, struct graft_error *error);

/* [any] Refuses new requests and lets running answers finish; a second call cancels these too. May be called from a
 * signal handler. */
void graft_server_stop(struct graft_server *server);

/* [load] Frees a server that is not running. Accepts NULL. */
void graft_server_free(struct graft_server *server);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A model behind an address: a server that OpenAI's clients can talk to (docs/serve.md), for programs to embed.
 *
 *     struct graft_server_options options = {.struct_size = sizeof options, .port = 8000};
 *     struct graft_server *server;
 *     graft_server_create(model, tokenizer, chat, &options, &server, &error);
 *     printf("port %d\n", (int)graft_server_port(server));
 *     graft_server_run(server, &error);      // until graft_server_stop, from a signal's handler or another thread
 *     graft_server_free(server);
 *
 * Each answer has the same bits as alone, however many are made at once (graft/host/sequences.h).
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
    int32_t port;                /* 0: one that is free; graft_server_port tells */
    const char *address;         /* NULL: 127.0.0.1, which other machines cannot reach */
    int32_t has_listening;       /* 1: `listening` takes the place of address and port */
    int32_t listening;           /* a socket that listens, such as systemd gives; the server closes it */
    const char *name;            /* of the model, to clients; must not be NULL */
    const char *const *adapters; /* [n_adapters] names of the model's adapters: each is a model "NAME:ADAPTER" */
    size_t n_adapters;           /* how many */
    const char *const *keys;     /* [n_keys] one of which a client has to show; copied */
    size_t n_keys;               /* how many; 0: nobody is asked */
    const char *cors_origin;     /* pages of this origin may call, "*": of any; NULL: none may */
    int32_t max_running;         /* answers that are made at once; 0: 32 */
    int32_t max_waiting;         /* and that wait for it; more are told to come back; 0: 64 */
    int64_t max_cache_bytes;     /* as in struct graft_sequences_options */
    int64_t max_new_tokens;      /* of an answer whose request does not say; 0: as many as there are positions for */
    int64_t max_body_bytes;      /* of a request; 0: 4 MiB, 16 MiB for a model that takes images */
    int32_t timeout_seconds;     /* an answer that takes longer is ended; 0: 600 */
    int32_t idle_seconds;        /* a connection on which nothing moves is closed; 0: 60 */
    /* A folder that exists, in which what prompts have in common is kept beyond this run, as of
     * graft_sequences_save_shared_in; NULL: nothing is. A model of which nothing can be kept is GRAFT_ERROR_USAGE. */
    const char *session_folder;
    int64_t session_bytes; /* of its files; 0: 8 GiB */
    /* [any] Hears what went wrong beside the answers, in one line that lives during the call; NULL: nobody does. */
    void (*on_note)(void *data, const char *note);
    void *note_data; /* what on_note is given */
};

#define GRAFT_SERVER_OPTIONS_SIZE_1_0 GRAFT_END_OF(struct graft_server_options, note_data)

/* [load] Listens. Model, tokenizer and `chat` outlive the server; `chat` is NULL for a model without a chat template.
 * From here to graft_server_free nobody else uses the model. An address that cannot be had is GRAFT_ERROR_IO. The
 * caller frees the server. */
int graft_server_create(struct graft_model *model, const struct graft_tokenizer *tokenizer,
                        const struct graft_chat_template *chat, const struct graft_server_options *options,
                        struct graft_server **server, struct graft_error *error);

/* [any] Where it listens; 0 for a socket that has no port. */
int32_t graft_server_port(const struct graft_server *server);

/* [load] Serves on this thread and one of its own, until it was stopped and all answers that had begun are sent. */
int graft_server_run(struct graft_server *server, struct graft_error *error);

/* [any] Lets running answers end and refuses new ones; a second call ends those as well. A signal's handler may call
 * it. */
void graft_server_stop(struct graft_server *server);

/* [load] Of a server that does not run. Accepts NULL. */
void graft_server_free(struct graft_server *server);

#ifdef __cplusplus
}
#endif

#endif

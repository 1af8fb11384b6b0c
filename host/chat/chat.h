/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder share; graft/host/chat.h is what others use. */
#ifndef GRAFT_CHAT_CHAT_H
#define GRAFT_CHAT_CHAT_H

#include "base/json.h"
#include "graft/host/chat.h"
#include "jinja/jinja.h"

struct graft_named_template {
    char *name;
    char *source; /* for errors */
    struct graft_jinja_template *parsed;
};

struct graft_chat_template {
    struct graft_named_template *items; /* [n] */
    size_t n;
    size_t capacity;
    const struct graft_tokenizer *tokenizer; /* borrowed */
    int32_t *controls;                       /* [n_controls] ids that are not special and that a template writes */
    size_t n_controls;
    size_t controls_capacity;
};

/* Adds a template. */
int graft_chat_add(struct graft_chat_template *chat, const char *name, const char *source, const char *text,
                   size_t length, struct graft_error *error);

/* Finds the templates of a directory and adds them. */
int graft_chat_find(struct graft_chat_template *chat, const char *directory,
                    const struct graft_tokenizer_options *options, struct graft_error *error);

/* What a request asks to be rendered. */
struct graft_chat_inputs {
    graft_json *messages;
    graft_json *tools; /* this and the following: NULL where there is none */
    graft_json *documents;
    graft_json *variables;
    struct graft_text final_text; /* what the open last message ends with; nothing when it is closed */
    int is_open;
};

/* Parses and checks; members that are null go, and thoughts get the names that templates read them by. The caller
 * gives `inputs` to graft_chat_inputs_finish, also after an error. */
int graft_chat_inputs_read(const struct graft_chat_request *request, struct graft_chat_inputs *inputs,
                           struct graft_error *error);
void graft_chat_inputs_finish(struct graft_chat_inputs *inputs);

/* Leaves the last message open: `template` is whose text must mention the member. */
int graft_chat_open_final(const struct graft_named_template *used, const char *member, struct graft_chat_inputs *inputs,
                          struct graft_error *error);
/* Cuts the output where the last message's text ends. */
int graft_chat_cut_final(const struct graft_chat_inputs *inputs, struct graft_jinja_output *output,
                         struct graft_error *error);

#endif

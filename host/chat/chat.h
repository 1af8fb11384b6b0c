/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of this folder; others use graft/host/chat.h. */
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
    int32_t *controls; /* [n_controls] ids of tokens that templates write although they are not special */
    size_t n_controls;
    size_t controls_capacity;
};

/* Adds a template. */
int graft_chat_add(struct graft_chat_template *chat, const char *name, const char *source, const char *text,
                   size_t length, struct graft_error *error);

/* Finds the templates of a directory and adds them. */
int graft_chat_find(struct graft_chat_template *chat, const char *directory,
                    const struct graft_tokenizer_options *options, struct graft_error *error);

/* The parts of a request, parsed. */
struct graft_chat_inputs {
    graft_json *messages;
    graft_json *tools; /* NULL if absent; so are the next */
    graft_json *documents;
    graft_json *variables;
    struct graft_text final_text; /* the text after which the open last message is cut; empty if it is closed */
    int is_open;
};

/* Parses and checks a request. Removes members of messages that are null, and copies thoughts to the names under which
 * templates read them. The caller finishes `inputs`, also after an error. */
int graft_chat_inputs_read(const struct graft_chat_request *request, struct graft_chat_inputs *inputs,
                           struct graft_error *error);
void graft_chat_inputs_finish(struct graft_chat_inputs *inputs);

/* Leaves the last message open, at its `member`, which the template `used` must mention. */
int graft_chat_open_final(const struct graft_named_template *used, const char *member, struct graft_chat_inputs *inputs,
                          struct graft_error *error);
/* Cuts the output after the text of the open last message. */
int graft_chat_cut_final(const struct graft_chat_inputs *inputs, struct graft_jinja_output *output,
                         struct graft_error *error);

#endif

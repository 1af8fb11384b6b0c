/* SPDX-License-Identifier: Apache-2.0 */
/* The state of `chat`, shared by its files. */
#ifndef GRAFT_CLI_TALK_TALK_H
#define GRAFT_CLI_TALK_TALK_H

#include "cli/chat.h"
#include "cli/message_images.h"
#include "cli/options.h"
#include "cli/structure.h"
#include "cli/talk/lines.h"
#include "graft/host/graft.h"
#include "graft/host/image.h"
#include "graft/host/sequences.h"

/* Counts and times of the last answer. */
struct graft_talk_counts {
    size_t prompt_tokens; /* tokens of the conversation before the answer */
    int64_t read_tokens;  /* prompt tokens that the model had to compute */
    int64_t new_tokens;
    double read_seconds; /* time until the first token */
    double new_seconds;  /* time from the first token to the last */
};

struct graft_talk {
    const struct graft_options *options;
    const struct graft_library *library;
    struct graft_model *model;
    struct graft_tokenizer *tokenizer;
    struct graft_chat chat;
    struct graft_sequences *sequences;
    struct graft_generation generation;
    struct graft_generation_fields *fields;
    struct graft_structure structure;
    struct graft_lines *lines;
    graft_json *messages;
    struct graft_message_images images; /* images of all messages, in order */
    graft_json *next_parts;             /* image parts for the next message; NULL: none */
    struct graft_talk_counts counts;
    int in_color; /* stdout is a terminal that shows colours */
    int is_over;
};

/* Answers the conversation's last message: writes the answer to stdout as it comes, and adds it to the messages. Ctrl-C
 * ends it early. */
int graft_talk_answer(struct graft_talk *talk, struct graft_error *error);

/* Runs a command line, which begins with '/'. */
int graft_talk_command(struct graft_talk *talk, const char *line, struct graft_error *error);

/* Adds an image to the next message, before its text. */
int graft_talk_add_image(struct graft_talk *talk, const char *file, struct graft_error *error);
void graft_talk_drop_images(struct graft_talk *talk);
/* Replaces all messages, and reads their images from the paths in them. */
int graft_talk_take_messages(struct graft_talk *talk, graft_json *messages_take, struct graft_error *error);

/* Restarts the conversation with the messages of the command line. */
int graft_talk_restart(struct graft_talk *talk, struct graft_error *error);

/* Replaces the system message, or inserts one at the start. */
int graft_talk_set_system(struct graft_talk *talk, const char *text, struct graft_error *error);

/* Whether Ctrl-C was pressed since the last call of graft_talk_clear_interrupt. */
int graft_talk_is_interrupted(void);
void graft_talk_clear_interrupt(void);
/* From now on, Ctrl-C only sets a flag, which graft_talk_is_interrupted returns. */
void graft_talk_catch_interrupts(void);

#endif

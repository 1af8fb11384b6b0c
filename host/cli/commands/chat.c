/* SPDX-License-Identifier: Apache-2.0 */
/* `chat`: a conversation in the terminal. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/commands/commands.h"
#include "cli/conversation.h"
#include "cli/generation.h"
#include "cli/open_tokenizer.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/talk/talk.h"

/* Two sequences: the current answer, and the previous one, which has ended but keeps its cache, so that the
 * conversation so far need not be read again. */
enum { SEQUENCES = 2, MOST_NEW_TOKENS = 1 << 20 };

int graft_talk_restart(struct graft_talk *talk, struct graft_error *error) {
    graft_json *messages = NULL;
    int status = graft_conversation_read(talk->options, &messages, error);
    if (status != GRAFT_OK) {
        graft_json_free(messages);
        return status;
    }
    return graft_talk_take_messages(talk, messages, error);
}

int graft_talk_set_system(struct graft_talk *talk, const char *text, struct graft_error *error) {
    const char *role = graft_json_string(graft_json_get(graft_json_at(talk->messages, 0), "role"), NULL);
    graft_json *changed = graft_json_new_array();
    const size_t first = role != NULL && strcmp(role, "system") == 0;
    int failed = changed == NULL || graft_conversation_add(changed, "system", text, strlen(text)) != 0;
    for (size_t i = first; i < graft_json_size(talk->messages) && !failed; i++) {
        failed = graft_json_append_share(changed, graft_json_at(talk->messages, i)) != 0;
    }
    if (failed) {
        graft_json_free(changed);
        return graft_fail_memory(error, "/system");
    }
    graft_json_free(talk->messages);
    talk->messages = changed;
    return GRAFT_OK;
}

static int start(struct graft_talk *talk, struct graft_error *error) {
    const struct graft_options *options = talk->options;
    const struct graft_sequences_options wanted = {
        .struct_size = sizeof wanted,
        .max_running = SEQUENCES + (options->session != NULL), /* one more for the file's prefix */
        .piece_tokens = GRAFT_SESSION_PIECE};
    int status = graft_open_tokenizer(options, &talk->tokenizer, error);
    if (status == GRAFT_OK) {
        status = graft_chat_open(options, talk->tokenizer, &talk->chat, error);
    }
    if (status == GRAFT_OK && talk->chat.template == NULL) {
        (void)graft_error_set(error, GRAFT_ERROR_MODEL, options->model,
                              "has no chat template, which says how messages are written");
        graft_error_hint(error, "run --prompt passes a text unchanged");
        return GRAFT_ERROR_MODEL;
    }
    if (status == GRAFT_OK) {
        graft_chat_note_unread(options, &talk->chat);
        status = graft_generation_choose(options, talk->model, &talk->generation, &talk->fields, error);
    }
    if (status == GRAFT_OK) {
        status =
            graft_structure_open(options, talk->model, talk->tokenizer, &talk->generation, &talk->structure, error);
    }
    if (status == GRAFT_OK && options->max_new_tokens < 0 && !graft_generation_is_given(options, "max-length")) {
        talk->generation.max_new_tokens = MOST_NEW_TOKENS; /* until the model ends the answer */
    }
    if (status == GRAFT_OK) {
        status = graft_sequences_create(talk->model, &wanted, &talk->sequences, error);
    }
    if (status == GRAFT_OK) {
        status = graft_session_begin(options, talk->sequences, error);
    }
    if (status == GRAFT_OK) {
        status = graft_talk_restart(talk, error);
    }
    return status == GRAFT_OK ? graft_lines_create(&talk->lines, error) : status;
}

static void finish(struct graft_talk *talk) {
    graft_lines_destroy(talk->lines);
    graft_talk_drop_images(talk);
    graft_json_free(talk->messages);
    graft_sequences_free(talk->sequences);
    graft_structure_close(&talk->structure);
    graft_generation_fields_free(talk->fields);
    graft_chat_close(&talk->chat);
    graft_tokenizer_free(talk->tokenizer);
}

/* Adds a typed line as the user's message, after the images that /image added. */
static int say(struct graft_talk *talk, const char *text, struct graft_error *error) {
    if (graft_conversation_add(talk->messages, "user", text, strlen(text)) != 0) {
        return graft_fail_memory(error, "messages");
    }
    if (talk->next_parts == NULL) {
        return GRAFT_OK;
    }
    graft_json *message = (graft_json *)graft_json_at(talk->messages, graft_json_size(talk->messages) - 1);
    graft_json *part = graft_json_new_object();
    graft_json *parts = talk->next_parts;
    talk->next_parts = NULL;
    int failed = graft_json_set_take(part, "type", graft_json_new_string("text")) != 0 ||
                 graft_json_set_take(part, "text", graft_json_new_string(text)) != 0;
    if (failed) {
        graft_json_free(part);
    }
    failed = failed || graft_json_append_take(parts, part) != 0;
    return graft_json_set_take(message, "content", parts) != 0 || failed ? graft_fail_memory(error, "messages")
                                                                         : GRAFT_OK;
}

/* Removes the last message, which got no answer. */
static void unsay(struct graft_talk *talk) {
    graft_json *kept = graft_json_new_array();
    const size_t n = graft_json_size(talk->messages);
    int failed = kept == NULL;
    for (size_t i = 0; i + 1 < n && !failed; i++) {
        failed = graft_json_append_share(kept, graft_json_at(talk->messages, i)) != 0;
    }
    if (failed) {
        graft_json_free(kept);
        return;
    }
    (void)graft_talk_take_messages(talk, kept, NULL);
}

/* Whether the last message is the user's and has no answer, as --messages may end. */
static int is_open(const struct graft_talk *talk) {
    const size_t n = graft_json_size(talk->messages);
    const char *role =
        n > 0 ? graft_json_string(graft_json_get(graft_json_at(talk->messages, n - 1), "role"), NULL) : NULL;
    return role != NULL && strcmp(role, "user") == 0;
}

static int answer(struct graft_talk *talk, struct graft_error *error) {
    int status = graft_talk_answer(talk, error);
    if (status != GRAFT_OK) {
        unsay(talk);
    }
    return status;
}

static int take_line(struct graft_talk *talk, const char *line, struct graft_error *error) {
    if (line[0] == '/' && line[1] != '/') {
        return graft_talk_command(talk, line, error);
    }
    if (line[strspn(line, " \t\n")] == '\0') {
        return GRAFT_OK;
    }
    return say(talk, line[0] == '/' ? line + 1 : line, error);
}

/* Answers the last message if it has no answer; else reads a line. `*is_end` becomes 1 at the end of input. */
static int go_on(struct graft_talk *talk, struct graft_text *line, int *is_end, struct graft_error *error) {
    if (is_open(talk)) {
        return answer(talk, error);
    }
    enum graft_lines_end end = graft_lines_read(talk->lines, line);
    if (line->failed) {
        return graft_fail_memory(error, "standard input");
    }
    *is_end = end == GRAFT_LINES_OVER;
    if (end == GRAFT_LINES_TEXT) {
        return take_line(talk, line->bytes, error);
    }
    if (end == GRAFT_LINES_INTERRUPTED || isatty(STDIN_FILENO)) {
        (void)fputc('\n', stdout);
    }
    return GRAFT_OK;
}

/* Runs the conversation. On a terminal an error is printed and the conversation continues; otherwise it ends with the
 * error. */
static int loop(struct graft_talk *talk, struct graft_error *error) {
    const int is_terminal = isatty(STDIN_FILENO);
    struct graft_text line = {0};
    int status = GRAFT_OK;
    for (int is_end = 0; !is_end && !talk->is_over && status == GRAFT_OK;) {
        struct graft_error own = graft_error_none();
        status = go_on(talk, &line, &is_end, &own);
        if (status != GRAFT_OK && is_terminal && status != GRAFT_ERROR_INTERNAL) {
            graft_output_error(&own);
            status = GRAFT_OK;
        } else if (status != GRAFT_OK) {
            *error = own;
        }
    }
    graft_text_free(&line);
    return status;
}

int graft_command_chat(const struct graft_options *options, struct graft_model *model,
                       const struct graft_library *library, struct graft_error *error) {
    const char *terminal = getenv("TERM");
    struct graft_talk talk = {
        .options = options,
        .library = library,
        .model = model,
        .in_color = isatty(STDOUT_FILENO) && terminal != NULL && strcmp(terminal, "dumb") != 0,
    };
    if (graft_model_task(model) != GRAFT_TASK_CAUSAL_LM) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "chat", "is for models that generate text");
    }
    int status = start(&talk, error);
    if (status == GRAFT_OK) {
        graft_talk_catch_interrupts();
        if (isatty(STDIN_FILENO) && !options->quiet) {
            graft_output_line(stderr, "%s; /help lists commands, Ctrl-D ends", options->model);
        }
        status = loop(&talk, error);
    }
    if (status == GRAFT_OK) {
        status = graft_session_end(options, talk.sequences, error);
    }
    finish(&talk);
    return status;
}

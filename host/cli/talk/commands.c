/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of `chat`: lines that begin with '/'. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "cli/conversation.h"
#include "cli/output.h"
#include "cli/setup.h"
#include "cli/talk/talk.h"
#include "graft/host/library.h"

static int reset(struct graft_talk *talk, const char *rest, struct graft_error *error) {
    (void)rest;
    return graft_talk_restart(talk, error);
}

static int set_system(struct graft_talk *talk, const char *rest, struct graft_error *error) {
    return graft_talk_set_system(talk, rest, error);
}

static int save(struct graft_talk *talk, const char *rest, struct graft_error *error) {
    char *text = graft_json_dump(talk->messages, 1);
    if (text == NULL) {
        return graft_fail_memory(error, rest);
    }
    const struct graft_file_piece pieces[] = {{text, strlen(text)}, {"\n", 1}};
    int status = graft_file_write(rest, pieces, 2, error);
    graft_free(text);
    return status;
}

static int load(struct graft_talk *talk, const char *rest, struct graft_error *error) {
    graft_json *messages = NULL;
    int status = graft_conversation_read_file(rest, &messages, error);
    if (status != GRAFT_OK) {
        graft_json_free(messages);
        return status;
    }
    return graft_talk_take_messages(talk, messages, error);
}

static int show_plugins(struct graft_talk *talk, const char *rest, struct graft_error *error) {
    const struct graft_plugin_info *plugin;
    size_t i = 0;
    (void)rest;
    for (; (plugin = graft_library_plugin(talk->library, i)) != NULL; i++) {
        graft_output_line(stdout, "%s%s%s", plugin->descriptor->id, plugin->file != NULL ? "  " : "",
                          plugin->file != NULL ? plugin->file : "");
    }
    if (i == 0) {
        graft_output_line(stdout, "no plugins are loaded");
    }
    return graft_output_flush(stdout, error);
}

static int show_plan(struct graft_talk *talk, const char *rest, struct graft_error *error) {
    struct graft_options loud = *talk->options;
    (void)rest;
    loud.report = "text";
    loud.quiet = 0;
    return graft_setup_report(&loud, talk->model, talk->library, error);
}

static int show_stats(struct graft_talk *talk, const char *rest, struct graft_error *error) {
    struct graft_sequences_counts counts = {.struct_size = sizeof counts};
    (void)rest;
    graft_sequences_get_counts(talk->sequences, &counts);
    graft_output_line(stdout, "messages: %zu", graft_json_size(talk->messages));
    graft_output_line(stdout, "last answer: %lld of %zu tokens read in %.1f s, %lld new in %.1f s",
                      (long long)talk->counts.read_tokens, talk->counts.prompt_tokens, talk->counts.read_seconds,
                      (long long)talk->counts.new_tokens, talk->counts.new_seconds);
    graft_output_line(stdout, "since the start: %lld prompt tokens read, %lld reused, %lld forwards",
                      (long long)counts.prompt_tokens, (long long)counts.shared_tokens, (long long)counts.forwards);
    return graft_output_flush(stdout, error);
}

static int end(struct graft_talk *talk, const char *rest, struct graft_error *error) {
    (void)rest;
    (void)error;
    talk->is_over = 1;
    return GRAFT_OK;
}

static int help(struct graft_talk *talk, const char *rest, struct graft_error *error);

static const struct {
    const char *name;
    const char *argument; /* name of its argument, for /help; NULL: it takes none */
    int (*run)(struct graft_talk *talk, const char *rest, struct graft_error *error);
    const char *what;
} commands[] = {
    {"reset", NULL, reset, "begin again, with the messages of the command line"},
    {"system", "TEXT", set_system, "say what the model is to be; begins nothing anew"},
    {"image", "FILE", graft_talk_add_image, "put a PNG or JPEG before the next message"},
    {"save", "FILE", save, "write the messages as JSON, as --messages reads them"},
    {"load", "FILE", load, "go on with messages from a file"},
    {"plugins", NULL, show_plugins, "list the plugins that are loaded"},
    {"plan", NULL, show_plan, "show what they replaced"},
    {"stats", NULL, show_stats, "show tokens and times"},
    {"help", NULL, help, "show this"},
    {"exit", NULL, end, "end, as Ctrl-D does"},
};

static int help(struct graft_talk *talk, const char *rest, struct graft_error *error) {
    (void)talk;
    (void)rest;
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        (void)printf("/%-7s %-5s %s\n", commands[i].name, commands[i].argument != NULL ? commands[i].argument : "",
                     commands[i].what);
    }
    (void)fputs(
        "Ctrl-C ends an answer. A line that ends with \\ goes on in the next; \"\"\" begins and ends a text of\n"
        "several lines; // at the beginning stands for a message that begins with /\n",
        stdout);
    return graft_output_flush(stdout, error);
}

int graft_talk_command(struct graft_talk *talk, const char *line, struct graft_error *error) {
    const char *name = line + 1;
    const size_t length = strcspn(name, " \t\n");
    const char *rest = name + length + strspn(name + length, " \t");
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (strlen(commands[i].name) != length || memcmp(commands[i].name, name, length) != 0) {
            continue;
        }
        if ((commands[i].argument != NULL) != (rest[0] != '\0')) {
            return commands[i].argument != NULL
                       ? graft_error_set(error, GRAFT_ERROR_USAGE, commands[i].name, "expected %s after it",
                                         commands[i].argument)
                       : graft_error_set(error, GRAFT_ERROR_USAGE, commands[i].name, "expected nothing after it");
        }
        return commands[i].run(talk, rest, error);
    }
    (void)graft_error_set(error, GRAFT_ERROR_USAGE, "chat", "no such command: /%.*s", length < 60 ? (int)length : 60,
                          name);
    graft_error_hint(error, "see /help");
    return GRAFT_ERROR_USAGE;
}

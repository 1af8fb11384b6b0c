/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/standard_input.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/conversation.h"
#include "cli/program.h"

enum { MAX_PROMPT_BYTES = 64 << 20, PATIENCE_MILLISECONDS = 2000 };

static const char source[] = "standard input";
static const char itself[] = "-"; /* the --prompt-file that means standard input */

static size_t count_asked(const struct graft_options *options) {
    size_t n = 0;
    for (size_t i = 0; i < options->prompt_files.count; i++) {
        n += strcmp(options->prompt_files.items[i], itself) == 0;
    }
    return n;
}

/* Whether `run` has no prompt on the command line, so that standard input may be it. */
static int may_be_prompt(const struct graft_options *options) {
    struct stat status;
    return options->command == GRAFT_COMMAND_RUN && !graft_conversation_is_given(options) &&
           options->parallel == NULL && !options->embed && !options->lines && !options->pairs &&
           options->prompts.count + options->prompt_files.count + options->input_ids.count == 0 &&
           fstat(STDIN_FILENO, &status) == 0 &&
           (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode) || S_ISREG(status.st_mode));
}

/* Says that standard input is read, if text does not come at once: the pipe may have been left open by mistake. */
static void wait_for_text(const struct graft_options *options) {
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
    if (!options->quiet && poll(&in, 1, PATIENCE_MILLISECONDS) == 0) {
        (void)fprintf(stderr, "%s: waiting for a prompt on standard input; run it with </dev/null for none\n",
                      graft_program_name());
    }
}

static int read_all(struct graft_text *text, struct graft_error *error) {
    char bytes[1 << 16];
    ssize_t n;
    while ((n = read(STDIN_FILENO, bytes, sizeof bytes)) != 0) {
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return graft_fail_errno(error, GRAFT_ERROR_IO, source, "cannot be read", errno);
        }
        graft_text_add(text, bytes, (size_t)n);
        if (text->length > MAX_PROMPT_BYTES) {
            return graft_error_set(error, GRAFT_ERROR_IO, source, "expected a prompt of at most %d bytes",
                                   MAX_PROMPT_BYTES);
        }
    }
    graft_text_add(text, "", 0); /* allocates text->bytes, also for an empty text */
    return text->failed ? graft_fail_memory(error, source) : GRAFT_OK;
}

/* Removes the line end that `echo` and editors add. */
static void drop_line_end(struct graft_text *text) {
    const char *end = text->bytes + text->length;
    size_t n = text->length > 0 && end[-1] == '\n' ? 1 : 0;
    n += n > 0 && text->length > 1 && end[-2] == '\r';
    text->length -= n;
    text->bytes[text->length] = '\0';
}

int graft_standard_input_take(struct graft_options *options, struct graft_error *error) {
    size_t asked = count_asked(options);
    if (asked > 1 || (asked > 0 && (options->lines || options->pairs))) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "--prompt-file -", "standard input can be read only once");
    }
    if (asked == 0 && !may_be_prompt(options)) {
        return GRAFT_OK;
    }
    if (asked == 0) {
        wait_for_text(options);
    }
    int status = read_all(&options->standard_input, error);
    if (status == GRAFT_OK) {
        int is_empty = options->standard_input.length == 0;
        drop_line_end(&options->standard_input);
        status = asked > 0 || is_empty ? GRAFT_OK : graft_options_add_prompt_file(options, itself, error);
    }
    return status;
}

int graft_prompt_file_read(const struct graft_options *options, const char *path, char **text, size_t *length,
                           struct graft_error *error) {
    if (strcmp(path, itself) != 0) {
        return graft_file_read(path, MAX_PROMPT_BYTES, GRAFT_ERROR_IO, text, length, error);
    }
    *text = graft_strndup(options->standard_input.bytes, options->standard_input.length);
    *length = options->standard_input.length;
    return *text != NULL ? GRAFT_OK : graft_fail_memory(error, source);
}

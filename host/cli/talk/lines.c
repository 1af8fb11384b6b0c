/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "cli/talk/lines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef GRAFT_HAS_LIBEDIT
#include <histedit.h>
#endif

#include "base/alloc.h"
#include "base/text.h"
#include "cli/program.h"
#include "cli/talk/talk.h"

static const char block[] = "\"\"\"";

struct graft_lines {
    int is_terminal; /* stdin is a terminal, so a prompt is shown */
    int goes_on;     /* 1: the next line continues a message */
    char *line;      /* buffer of getline */
    size_t capacity;
#ifdef GRAFT_HAS_LIBEDIT
    EditLine *edit; /* NULL: lines are read without libedit */
    History *history;
#endif
};

#ifdef GRAFT_HAS_LIBEDIT
static char *prompt_of(EditLine *edit) {
    static char first[] = "> ", next[] = ". ";
    struct graft_lines *lines = NULL;
    (void)el_get(edit, EL_CLIENTDATA, &lines);
    return lines != NULL && lines->goes_on ? next : first;
}

static void start_editing(struct graft_lines *lines) {
    enum { REMEMBERED = 1000 };
    HistEvent event;
    lines->history = history_init();
    lines->edit = lines->history != NULL ? el_init(graft_program_name(), stdin, stdout, stderr) : NULL;
    if (lines->edit != NULL) {
        (void)history(lines->history, &event, H_SETSIZE, REMEMBERED);
        (void)el_set(lines->edit, EL_CLIENTDATA, lines);
        (void)el_set(lines->edit, EL_PROMPT, prompt_of);
        (void)el_set(lines->edit, EL_EDITOR, "emacs");
        (void)el_set(lines->edit, EL_SIGNAL, 0);
        (void)el_set(lines->edit, EL_HIST, history, lines->history);
        (void)el_source(lines->edit, NULL);
    }
}
#endif

int graft_lines_create(struct graft_lines **lines, struct graft_error *error) {
    *lines = graft_alloc(1, sizeof **lines);
    if (*lines == NULL) {
        return graft_fail_memory(error, "standard input");
    }
    (*lines)->is_terminal = isatty(STDIN_FILENO);
#ifdef GRAFT_HAS_LIBEDIT
    if ((*lines)->is_terminal && isatty(STDOUT_FILENO)) {
        start_editing(*lines);
    }
#endif
    return GRAFT_OK;
}

void graft_lines_destroy(struct graft_lines *lines) {
    if (lines == NULL) {
        return;
    }
#ifdef GRAFT_HAS_LIBEDIT
    if (lines->edit != NULL) {
        el_end(lines->edit);
    }
    if (lines->history != NULL) {
        history_end(lines->history);
    }
#endif
    free(lines->line); /* getline's */
    graft_free(lines);
}

/* Reads a line, without its end. NULL at the end of input or after Ctrl-C. */
static const char *read_line(struct graft_lines *lines, size_t *length) {
    const char *line = NULL;
#ifdef GRAFT_HAS_LIBEDIT
    int n = 0;
    if (lines->edit != NULL) {
        line = el_gets(lines->edit, &n);
        *length = n > 0 ? (size_t)n : 0;
        line = n > 0 ? line : NULL;
    } else
#endif
    {
        if (lines->is_terminal) {
            (void)fputs(lines->goes_on ? ". " : "> ", stdout);
            (void)fflush(stdout);
        }
        ssize_t read = getline(&lines->line, &lines->capacity, stdin);
        if (read < 0 && graft_talk_is_interrupted()) {
            clearerr(stdin);
        }
        *length = read > 0 ? (size_t)read : 0;
        line = read > 0 ? lines->line : NULL;
    }
    if (line != NULL && *length > 0 && line[*length - 1] == '\n') {
        (*length)--;
        *length -= *length > 0 && line[*length - 1] == '\r';
    }
    return line;
}

static void remember(struct graft_lines *lines, const struct graft_text *text) {
#ifdef GRAFT_HAS_LIBEDIT
    HistEvent event;
    if (lines->edit != NULL && text->length > 0) {
        (void)history(lines->history, &event, H_ENTER, text->bytes);
    }
#else
    (void)lines;
    (void)text;
#endif
}

static int is_block(const char *line, size_t length) {
    return length == sizeof block - 1 && memcmp(line, block, length) == 0;
}

enum graft_lines_end graft_lines_read(struct graft_lines *lines, struct graft_text *text) {
    int in_block = 0, is_first = 1;
    text->length = 0;
    lines->goes_on = 0;
    graft_talk_clear_interrupt();
    for (;;) {
        size_t length = 0;
        const char *line = read_line(lines, &length);
        if (graft_talk_is_interrupted()) {
            return GRAFT_LINES_INTERRUPTED;
        }
        if (line == NULL) {
            return is_first ? GRAFT_LINES_OVER : GRAFT_LINES_TEXT;
        }
        if (is_block(line, length) && (is_first || in_block)) {
            if (in_block) {
                break;
            }
            in_block = lines->goes_on = 1;
            is_first = 0;
            continue;
        }
        const int goes_on = !in_block && length > 0 && line[length - 1] == '\\';
        if (text->length > 0) {
            graft_text_add(text, "\n", 1);
        }
        graft_text_add(text, line, length - (size_t)goes_on);
        is_first = 0;
        lines->goes_on = 1;
        if (!in_block && !goes_on) {
            break;
        }
    }
    graft_text_add(text, "", 0);
    remember(lines, text);
    return GRAFT_LINES_TEXT;
}

/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* memfd_create, memmem, memrchr */

#include "validate/said.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "graft/error.h"

enum { MOST = 1 << 20 };

void graft_said_init(struct graft_said *said) {
    said->text[0] = said->summary[0] = '\0';
    said->file = memfd_create("graft-validate", MFD_CLOEXEC);
    if (said->file >= 0) {
        (void)fcntl(said->file, F_SETFL, O_APPEND); /* so that it can be truncated while others write */
    }
}

void graft_said_redirect(const struct graft_said *said) {
    int null = open("/dev/null", O_RDWR);
    for (int i = 0; i <= STDERR_FILENO; i++) {
        int to = i == STDERR_FILENO && said->file >= 0 ? said->file : null;
        if (to >= 0) {
            (void)dup2(to, i);
        }
    }
}

void graft_said_limit(const struct graft_said *said) {
    struct stat info;
    if (said->file >= 0 && fstat(said->file, &info) == 0 && info.st_size > MOST) {
        (void)!ftruncate(said->file, GRAFT_SAID_BYTES);
    }
}

static void clean_lines(char *text) {
    for (char *line = text; line != NULL;) {
        char *end = strchr(line, '\n');
        if (end != NULL) {
            *end = '\0';
        }
        graft_error_clean(line);
        if (end != NULL) {
            *end = '\n';
        }
        line = end != NULL ? end + 1 : NULL;
    }
}

/* Copies the line with the first of these words that the whole text has: a report may be longer than what is kept of
 * it. Summary lines have no addresses and process ids, which differ from run to run. */
static void find_summary(const char *text, size_t length, char *line, size_t size) {
    static const char start[] = "SUMMARY: ";
    static const char *const words[] = {
        "SUMMARY: AddressSanitizer: ", "ERROR: AddressSanitizer: ", "runtime error: ", "SUMMARY: ThreadSanitizer: "};
    const char *found = NULL;
    for (size_t i = 0; i < sizeof words / sizeof words[0] && found == NULL; i++) {
        found = memmem(text, length, words[i], strlen(words[i]));
    }
    if (found != NULL) {
        const char *newline = memrchr(text, '\n', (size_t)(found - text));
        const char *begin = newline != NULL ? newline + 1 : text;
        const char *end = memchr(found, '\n', length - (size_t)(found - text));
        begin += begin == found && strncmp(found, start, sizeof start - 1) == 0 ? sizeof start - 1 : 0;
        (void)snprintf(line, size, "%.*s", (int)((end != NULL ? end : text + length) - begin), begin);
        graft_error_clean(line);
    }
}

void graft_said_take(struct graft_said *said) {
    char *text = said->file >= 0 ? graft_alloc(MOST, 1) : NULL; /* not mapped: the plugin's processes may truncate it */
    const ssize_t length = text != NULL ? pread(said->file, text, MOST, 0) : 0;
    said->text[0] = said->summary[0] = '\0';
    if (length > 0) {
        (void)snprintf(said->text, sizeof said->text, "%.*s", (int)length, text);
        clean_lines(said->text);
        find_summary(text, (size_t)length, said->summary, sizeof said->summary);
    }
    if (said->file >= 0) {
        (void)!ftruncate(said->file, 0);
    }
    graft_free(text);
}

void graft_said_finish(struct graft_said *said) {
    if (said->file >= 0) {
        (void)close(said->file);
    }
}

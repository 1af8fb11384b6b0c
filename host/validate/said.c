/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* memfd_create */

#include "validate/said.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "graft/error.h"

enum { MOST = 1 << 20 };

void graft_said_init(struct graft_said *said) {
    said->text[0] = '\0';
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

void graft_said_take(struct graft_said *said) {
    ssize_t length = said->file >= 0 ? pread(said->file, said->text, sizeof said->text - 1, 0) : 0;
    said->text[length > 0 ? length : 0] = '\0';
    for (char *line = said->text; line != NULL;) {
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
    if (said->file >= 0) {
        (void)!ftruncate(said->file, 0);
    }
}

int graft_said_sanitizer(const struct graft_said *said, char *line, size_t size) {
    /* Summary lines have no addresses and process ids, which differ from run to run. */
    static const char summary[] = "SUMMARY: ";
    static const char *const words[] = {
        "SUMMARY: AddressSanitizer: ", "ERROR: AddressSanitizer: ", "runtime error: ", "SUMMARY: ThreadSanitizer: "};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const char *found = strstr(said->text, words[i]);
        if (found != NULL) {
            const char *begin = found;
            while (begin > said->text && begin[-1] != '\n') {
                begin--;
            }
            begin += strncmp(begin, summary, sizeof summary - 1) == 0 ? sizeof summary - 1 : 0;
            (void)snprintf(line, size, "%.*s", (int)strcspn(begin, "\n"), begin);
            return 1;
        }
    }
    return 0;
}

void graft_said_finish(struct graft_said *said) {
    if (said->file >= 0) {
        (void)close(said->file);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* O_NOFOLLOW */

#include "plugin/trial_memory.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"
#include "plugin/version.h"

enum { MAX_BYTES = 256 << 10 };

/* $XDG_CACHE_HOME or ~/.cache; NULL if there is neither or memory ran out. */
static char *cache_folder(void) {
    const char *given = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    if (given != NULL && given[0] == '/') {
        return graft_strdup(given);
    }
    return home != NULL && home[0] == '/' ? graft_path_join(home, ".cache") : NULL;
}

/* Whether only this user can write the file, which decides about opening a plugin untried. */
static int is_ours(int fd) {
    struct stat status;
    return fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
           (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

void graft_trial_memory_open(struct graft_trial_memory *memory) {
    struct graft_error ignored;
    size_t length = 0;
    char *cache = cache_folder();
    char *folder = cache != NULL ? graft_path_join(cache, "graft") : NULL;
    *memory = (struct graft_trial_memory){.path = folder != NULL ? graft_path_join(folder, "trials") : NULL};
    if (memory->path != NULL) {
        (void)mkdir(cache, S_IRWXU);
        (void)mkdir(folder, S_IRWXU);
        int fd = open(memory->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (fd >= 0 && is_ours(fd)) {
            ignored = graft_error_none();
            (void)graft_file_read(memory->path, MAX_BYTES, GRAFT_ERROR_IO, &memory->text, &length, &ignored);
        }
        if (fd >= 0) {
            (void)close(fd);
        }
    }
    graft_free(folder);
    graft_free(cache);
}

/* The beginning of a line about a file in its current state; it includes the host's version, since another host may
 * judge differently. */
static int identify(const char *file, struct graft_text *text) {
    struct stat status;
    if (stat(file, &status) != 0) {
        return -1;
    }
    graft_text_printf(text, GRAFT_VERSION " %llu %llu %lld %lld.%09ld %lld.%09ld ", (unsigned long long)status.st_dev,
                      (unsigned long long)status.st_ino, (long long)status.st_size, (long long)status.st_mtim.tv_sec,
                      status.st_mtim.tv_nsec, (long long)status.st_ctim.tv_sec, status.st_ctim.tv_nsec);
    return text->failed ? -1 : 0;
}

/* Reads "safe" or "refused CAUSE". */
static int read_verdict(const char *line, size_t length, struct graft_trial *trial) {
    static const char refused[] = "refused ";
    *trial = (struct graft_trial){.verdict = GRAFT_TRIAL_SAFE};
    if (length == strlen("safe") && memcmp(line, "safe", length) == 0) {
        return 1;
    }
    size_t before = strlen(refused);
    if (length <= before || length - before >= sizeof trial->cause || memcmp(line, refused, before) != 0) {
        return 0;
    }
    trial->verdict = GRAFT_TRIAL_REFUSED;
    memcpy(trial->cause, line + before, length - before);
    graft_error_clean(trial->cause);
    return 1;
}

int graft_trial_recall(const struct graft_trial_memory *memory, const char *file, struct graft_trial *trial) {
    struct graft_text identity = {0};
    struct graft_trial found;
    int known = 0;
    const char *line = memory->text != NULL && identify(file, &identity) == 0 ? memory->text : "";
    for (const char *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        const size_t length = (size_t)(end - line);
        if (length > identity.length && memcmp(line, identity.bytes, identity.length) == 0 &&
            read_verdict(line + identity.length, length - identity.length, &found)) {
            *trial = found;
            known = 1;
        }
    }
    graft_text_free(&identity);
    return known;
}

void graft_trial_remember(const struct graft_trial_memory *memory, const char *file, const struct graft_trial *trial) {
    struct graft_text line = {0};
    struct stat status;
    int is_lasting = trial->verdict == GRAFT_TRIAL_SAFE || trial->verdict == GRAFT_TRIAL_REFUSED;
    if (memory->path == NULL || !is_lasting || identify(file, &line) != 0) {
        graft_text_free(&line);
        return;
    }
    graft_text_printf(&line, trial->verdict == GRAFT_TRIAL_SAFE ? "safe\n" : "refused %s\n", trial->cause);
    int fd = open(memory->path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (fd >= 0 && !line.failed && is_ours(fd)) {
        int has_room =
            fstat(fd, &status) == 0 && (status.st_size <= MAX_BYTES - (off_t)line.length || ftruncate(fd, 0) == 0);
        if (has_room) {
            (void)!write(fd, line.bytes, line.length);
        }
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    graft_text_free(&line);
}

void graft_trial_memory_finish(struct graft_trial_memory *memory) {
    graft_free(memory->path);
    graft_free(memory->text);
    *memory = (struct graft_trial_memory){0};
}

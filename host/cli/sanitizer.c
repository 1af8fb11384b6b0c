/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* memmem */

#include "cli/sanitizer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"

enum { MOST_BYTES = 1 << 28, NAME = 64, MOST_ARGUMENTS = 1 << 20 };

/* The name of the runtime that the file asks the loader for, "libasan.so.8"; "" if it asks for none. */
static void find_runtime(const char *file, char name[NAME]) {
    static const char begin[] = "libasan.so.";
    char *bytes = NULL;
    size_t length = 0;
    name[0] = '\0';
    if (graft_file_read(file, MOST_BYTES, GRAFT_ERROR_PLUGIN, &bytes, &length, NULL) != GRAFT_OK) {
        return;
    }
    const char *found = memmem(bytes, length, begin, sizeof begin - 1);
    if (found != NULL) {
        const size_t left = length - (size_t)(found - bytes);
        const size_t most = left < NAME - 1 ? left : NAME - 1;
        memcpy(name, found, most);
        name[most] = '\0';
        const size_t digits = strspn(name + sizeof begin - 1, "0123456789");
        name[digits > 0 ? sizeof begin - 1 + digits : 0] = '\0';
    }
    graft_free(bytes);
}

/* Whether this process has a runtime, or was started for one. */
static int has_runtime(void) {
    char line[512];
    const char *given = getenv("LD_PRELOAD");
    int has = given != NULL && strstr(given, "libasan.so") != NULL;
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps != NULL && !has && fgets(line, sizeof line, maps) != NULL) {
        has = strstr(line, "/libasan.so") != NULL;
    }
    if (maps != NULL) {
        (void)fclose(maps);
    }
    return has;
}

static void start_anew(void) {
    size_t n = 0;
    char *bytes = graft_alloc(MOST_ARGUMENTS, 1);
    FILE *file = bytes != NULL ? fopen("/proc/self/cmdline", "re") : NULL;
    const size_t length = file != NULL ? fread(bytes, 1, MOST_ARGUMENTS, file) : 0;
    if (file != NULL) {
        (void)fclose(file);
    }
    for (size_t i = 0; i < length; i++) {
        n += bytes[i] == '\0';
    }
    char **arguments = graft_alloc(n + 1, sizeof *arguments);
    if (arguments != NULL && length > 0 && length < MOST_ARGUMENTS) {
        char *at = bytes;
        for (size_t i = 0; i < n; i++) {
            arguments[i] = at;
            at += strlen(at) + 1;
        }
        (void)execv("/proc/self/exe", arguments);
    }
    graft_free(arguments);
    graft_free(bytes);
}

void graft_sanitizer_restart(const char *file) {
    char name[NAME];
    find_runtime(file, name);
    if (name[0] == '\0' || has_runtime()) {
        return;
    }
    const char *given = getenv("LD_PRELOAD");
    char *preload =
        graft_format("%s%s%s", name, given != NULL && given[0] != '\0' ? ":" : "", given != NULL ? given : "");
    /* Memory that the program itself still holds at its end is not a leak of the plugin. */
    if (preload != NULL && setenv("LD_PRELOAD", preload, 1) == 0 && setenv("ASAN_OPTIONS", "detect_leaks=0", 0) == 0) {
        start_anew();
    }
    graft_free(preload);
}

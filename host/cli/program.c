/* SPDX-License-Identifier: Apache-2.0 */
#define _XOPEN_SOURCE 700 /* SIGXFSZ */
#include "cli/program.h"

#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"

static const char *name = "graft";

void graft_program_set_name(const char *argv0) {
    const char *slash = argv0 != NULL ? strrchr(argv0, '/') : NULL;
    const char *last = slash != NULL ? slash + 1 : argv0;
    if (last != NULL && last[0] != '\0') {
        name = last;
    }
}

const char *graft_program_name(void) {
    return name;
}

void graft_program_ignore_signals(int is_one_of_several) {
    (void)signal(SIGXFSZ, SIG_IGN);
    if (!is_one_of_several) {
        (void)signal(SIGPIPE, SIG_IGN);
    }
}

/* Finds the path of the program's file. Returns 0, or -1 if the system does not give it. */
static int find_file(char file[PATH_MAX]) {
    ssize_t length = readlink("/proc/self/exe", file, PATH_MAX - 1);
    if (length <= 0) {
        return -1;
    }
    file[length] = '\0';
    return 0;
}

int graft_program_path(char **path, struct graft_error *error) {
    char file[PATH_MAX];
    if (find_file(file) != 0) {
        return graft_error_set(error, GRAFT_ERROR_INTERNAL, "/proc/self/exe", "does not say what the program is");
    }
    *path = graft_strdup(file);
    return *path != NULL ? GRAFT_OK : graft_fail_memory(error, "program");
}

/* Finds the folder of the program's file. Returns as find_file. */
static int find_folder(char folder[PATH_MAX]) {
    if (find_file(folder) != 0) {
        return -1;
    }
    char *slash = strrchr(folder, '/');
    if (slash == NULL) {
        return -1;
    }
    *slash = '\0';
    return 0;
}

/* The path of `place` relative to a folder without links in its path, with ".." resolved, since reports show it. */
static char *path_from(const char *folder, const char *place) {
    size_t length = strlen(folder);
    while (strncmp(place, "../", 3) == 0) {
        place += 3;
        while (length > 0 && folder[--length] != '/') {
        }
    }
    return graft_format("%.*s/%s", (int)length, folder, place);
}

/* The first of `n` places, relative to the program's folder, that exists; else `configured`. NULL if memory ran out. */
static char *find_installed(const char *const *places, size_t n, const char *configured) {
    char folder[PATH_MAX];
    struct stat status;
    n = find_folder(folder) == 0 ? n : 0;
    for (size_t i = 0; i < n; i++) {
        char *path = path_from(folder, places[i]);
        if (path == NULL || stat(path, &status) == 0) {
            return path;
        }
        graft_free(path);
    }
    return graft_strdup(configured);
}

int graft_program_plugins_dir(char **directory, struct graft_error *error) {
    static const char *const places[] = {GRAFT_PLUGINS_FROM_BINDIR,
                                         "plugins"}; /* the latter in the layout of scripts/bundle */
    struct stat status;
    *directory = find_installed(places, sizeof places / sizeof places[0], GRAFT_PLUGINS_DIR);
    if (*directory == NULL) {
        return graft_fail_memory(error, "--plugins-dir");
    }
    if (stat(*directory, &status) == 0 && S_ISDIR(status.st_mode)) {
        return GRAFT_OK;
    }
    graft_free(*directory);
    *directory = NULL;
    (void)graft_error_set(error, GRAFT_ERROR_USAGE, "--plugins-dir default", "no plugins are installed");
    graft_error_hint(error, "expected the folder %s; for a folder called default write ./default", GRAFT_PLUGINS_DIR);
    return GRAFT_ERROR_USAGE;
}

/* A folder of the user's: below $VARIABLE or, if that is not set, below ~/`usual`. */
static char *user_folder(const char *variable, const char *usual, const char *below) {
    const char *base = getenv(variable), *home = getenv("HOME");
    if (base != NULL && base[0] == '/') {
        return graft_format("%s/%s", base, below);
    }
    return home != NULL && home[0] == '/' ? graft_format("%s/%s/%s", home, usual, below) : NULL;
}

char *graft_program_user_plugins_dir(void) {
    return user_folder("XDG_DATA_HOME", ".local/share", "graft/plugins");
}

char *graft_program_trusted_keys(void) {
    return user_folder("XDG_CONFIG_HOME", ".config", "graft/trusted-keys");
}

/* find_installed, or NULL if nothing is there. */
static char *find_existing(const char *const *places, size_t n, const char *configured) {
    char *path = find_installed(places, n, configured);
    if (path != NULL && !graft_file_exists(path)) {
        graft_free(path);
        return NULL;
    }
    return path;
}

char *graft_program_converter(void) {
    static const char *const places[] = {GRAFT_DATA_FROM_BINDIR "/to_safetensors.py", "to_safetensors.py"};
    return find_existing(places, sizeof places / sizeof places[0], GRAFT_DATA_DIR "/to_safetensors.py");
}

char *graft_program_comparer(void) {
    static const char *const places[] = {GRAFT_DATA_FROM_BINDIR "/compare_layers.py", "compare_layers.py"};
    return find_existing(places, sizeof places / sizeof places[0], GRAFT_DATA_DIR "/compare_layers.py");
}

char *graft_program_crate(void) {
    static const char *const places[] = {GRAFT_DATA_FROM_BINDIR "/rust"};
    return find_existing(places, sizeof places / sizeof places[0], GRAFT_DATA_DIR "/rust");
}

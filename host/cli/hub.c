/* SPDX-License-Identifier: Apache-2.0 */
/* The cache's layout and the environment variables that name it are those of huggingface_hub. */
#include "cli/hub.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/hints.h"

/* A repository id and a revision of it. */
struct repository {
    const char *id;
    size_t length; /* length of the id */
    const char *revision;
};

static const char usual_revision[] = "main";

static int is_directory(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* Whether the text has the form of a repository's id: ORG/NAME, or NAME alone for the oldest repositories. Both parts
 * have letters, digits and "-._", and begin with a letter or a digit. */
static int is_id(const char *id, size_t length) {
    size_t slashes = 0;
    for (size_t i = 0; i < length; i++) {
        int begins = i == 0 || id[i - 1] == '/';
        slashes += id[i] == '/';
        if (!isalnum((unsigned char)id[i]) && (begins || strchr("-._/", id[i]) == NULL)) {
            return 0;
        }
    }
    return length > 0 && id[length - 1] != '/' && slashes <= 1;
}

/* Whether a text can be a revision. It may contain slashes, as branches do, but must not lead out of the folder of
 * references. */
static int is_revision(const char *revision) {
    return revision[0] != '\0' && revision[0] != '/' && strstr(revision, "..") == NULL;
}

static int parse(const char *name, struct repository *repository) {
    const char *at = strchr(name, '@');
    *repository = (struct repository){name, at != NULL ? (size_t)(at - name) : strlen(name),
                                      at != NULL ? at + 1 : usual_revision};
    return is_id(name, repository->length) && is_revision(repository->revision);
}

/* The value of an environment variable; NULL if it is unset or empty. */
static const char *variable(const char *name) {
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

/* Replaces a leading "~/" by the home directory. */
static char *expand(const char *path) {
    const char *home = path[0] == '~' && path[1] == '/' ? variable("HOME") : NULL;
    return home != NULL ? graft_path_join(home, path + 2) : graft_strdup(path);
}

/* "FOLDER/REST", where FOLDER is the value of the environment variable `name`. */
static char *below(const char *name, const char *rest) {
    char *folder = variable(name) != NULL ? expand(variable(name)) : NULL;
    char *path = folder != NULL ? graft_path_join(folder, rest) : NULL;
    graft_free(folder);
    return path;
}

/* The folder of the hub cache. NULL: memory ran out. */
static char *cache_folder(void) {
    static const char *const names[] = {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"};
    static const struct {
        const char *name;
        const char *rest;
    } parents[] = {{"HF_HOME", "hub"}, {"XDG_CACHE_HOME", "huggingface/hub"}, {"HOME", ".cache/huggingface/hub"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (variable(names[i]) != NULL) {
            return expand(variable(names[i]));
        }
    }
    for (size_t i = 0; i < sizeof parents / sizeof parents[0]; i++) {
        if (variable(parents[i].name) != NULL) {
            return below(parents[i].name, parents[i].rest);
        }
    }
    return graft_strdup(".cache/huggingface/hub");
}

/* CACHE/models--ORG--NAME */
static char *entry_of(const char *cache, const struct repository *repository) {
    struct graft_text text = {0};
    graft_text_printf(&text, "%s/models--", cache);
    for (size_t i = 0; i < repository->length; i++) {
        graft_text_add(&text, repository->id[i] == '/' ? "--" : &repository->id[i], repository->id[i] == '/' ? 2 : 1);
    }
    if (text.failed) {
        graft_text_free(&text);
        return NULL;
    }
    return text.bytes;
}

/* The commit that a branch or tag stands for, of ENTRY/refs/REVISION; the revision itself where there is no such
 * file. */
static int read_reference(const char *entry, const char *revision, char **commit, struct graft_error *error) {
    enum { MAX_REFERENCE_BYTES = 256 };
    char *path = graft_format("%s/refs/%s", entry, revision);
    size_t length = 0;
    int status = path != NULL ? GRAFT_OK : graft_fail_memory(error, entry);
    *commit = NULL;
    if (status == GRAFT_OK && !graft_file_exists(path)) {
        *commit = graft_strdup(revision);
        status = *commit != NULL ? GRAFT_OK : graft_fail_memory(error, entry);
    } else if (status == GRAFT_OK) {
        status = graft_file_read(path, MAX_REFERENCE_BYTES, GRAFT_ERROR_MODEL, commit, &length, error);
    }
    for (; status == GRAFT_OK && length > 0 && isspace((unsigned char)(*commit)[length - 1]); length--) {
        (*commit)[length - 1] = '\0';
    }
    if (status == GRAFT_OK && ((*commit)[0] == '\0' || strchr(*commit, '/') != NULL || (*commit)[0] == '.')) {
        status = graft_error_set(error, GRAFT_ERROR_MODEL, path, "expected a commit, got \"%.80s\"", *commit);
    }
    graft_free(path);
    return status;
}

/* Adds the names of an entry's snapshots, or "none", to a message. */
static void name_snapshots(const char *entry, struct graft_text *text) {
    enum { MOST = 4 };
    char *path = graft_path_join(entry, "snapshots");
    DIR *stream = path != NULL ? opendir(path) : NULL;
    size_t n = 0;
    for (const struct dirent *at; stream != NULL && (at = readdir(stream)) != NULL;) {
        if (at->d_name[0] != '.' && n++ < MOST) {
            graft_text_printf(text, "%s%s", n > 1 ? ", " : "", at->d_name);
        }
    }
    graft_text_add_string(text, n == 0 ? "none" : n > MOST ? ", ..." : "");
    if (stream != NULL) {
        (void)closedir(stream);
    }
    graft_free(path);
}

/* Finds the snapshot of a revision in an entry of the cache. */
static int find_snapshot(const char *entry, const char *revision, char **directory, struct graft_error *error) {
    char *commit = NULL;
    int status = read_reference(entry, revision, &commit, error);
    if (status == GRAFT_OK) {
        *directory = graft_format("%s/snapshots/%s", entry, commit);
        status = *directory != NULL ? GRAFT_OK : graft_fail_memory(error, entry);
    }
    if (status == GRAFT_OK && !is_directory(*directory)) {
        struct graft_text snapshots = {0};
        name_snapshots(entry, &snapshots);
        status = graft_error_set(error, GRAFT_ERROR_MODEL, entry,
                                 "the hub cache has no revision %s of this repository: looked for refs/%s and "
                                 "snapshots/%s; its snapshots: %s",
                                 revision, revision, commit, snapshots.failed ? "?" : snapshots.bytes);
        graft_error_hint(error, "name one of them as ORG/NAME@SNAPSHOT, or download the revision");
        graft_text_free(&snapshots);
        graft_free(*directory);
        *directory = NULL;
    }
    graft_free(commit);
    return status;
}

/* Whether a directory is an entry of a cache (models--ORG--NAME), and not a model directory itself. */
static int is_entry(const char *path) {
    char *snapshots = graft_path_join(path, "snapshots");
    char *config = graft_path_join(path, "config.json");
    int is = snapshots != NULL && config != NULL && is_directory(snapshots) && !graft_file_exists(config);
    graft_free(snapshots);
    graft_free(config);
    return is;
}

static int fail_absent(const char *name, const char *entry, const struct repository *repository,
                       struct graft_error *error) {
    if (entry == NULL) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, name, "no such directory");
    }
    (void)graft_error_set(error, GRAFT_ERROR_MODEL, name,
                          "no such directory, and no such repository in the hub cache: looked for %s", entry);
    graft_error_hint(error,
                     "download it with `hf download %.*s`, or say with HF_HOME or HF_HUB_CACHE where the cache is",
                     (int)repository->length, repository->id);
    return GRAFT_ERROR_MODEL;
}

static int find_repository(const char *name, const struct repository *repository, char **directory,
                           struct graft_error *error) {
    char *cache = cache_folder();
    char *entry = cache != NULL ? entry_of(cache, repository) : NULL;
    int status = entry == NULL         ? graft_fail_memory(error, name)
                 : is_directory(entry) ? find_snapshot(entry, repository->revision, directory, error)
                                       : fail_absent(name, entry, repository, error);
    graft_free(entry);
    graft_free(cache);
    return status;
}

int graft_hub_find(const char *name, char **directory, struct graft_error *error) {
    struct repository repository;
    struct stat found;
    *directory = NULL;
    if (stat(name, &found) == 0 && !S_ISDIR(found.st_mode)) {
        (void)graft_error_set(error, GRAFT_ERROR_MODEL, name, "expected a model directory, found a file");
        if (graft_hint_is_convertible(name)) {
            graft_hint_convert(name, error);
        } else {
            graft_error_hint(error, "name the directory that holds it");
        }
        return GRAFT_ERROR_MODEL;
    }
    if (is_directory(name) && is_entry(name)) {
        return find_snapshot(name, usual_revision, directory, error);
    }
    if (!is_directory(name) && errno == ENOENT) {
        return parse(name, &repository) ? find_repository(name, &repository, directory, error)
                                        : fail_absent(name, NULL, NULL, error);
    }
    *directory = graft_strdup(name); /* opening files in it reports what is wrong */
    return *directory != NULL ? GRAFT_OK : graft_fail_memory(error, name);
}

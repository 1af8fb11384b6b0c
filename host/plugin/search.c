/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/search.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/text.h"
#include "plugin/family_file.h"

static int compare_names(const void *left, const void *right) {
    const struct graft_plugin_file *a = left;
    const struct graft_plugin_file *b = right;
    return strcmp(a->name, b->name);
}

static int is_known(const struct graft_plugin_files *files, const struct graft_plugin_file *file) {
    for (size_t i = 0; i < files->n; i++) {
        if (files->items[i].device == file->device && files->items[i].inode == file->inode) {
            return 1;
        }
    }
    return 0;
}

/* Adds a file. Returns 0, or -1 if memory ran out. */
static int add(struct graft_plugin_files *files, const char *name, const struct stat *status) {
    char *copy = graft_strdup(name);
    if (copy == NULL || graft_grow(&files->items, &files->capacity, files->n, sizeof *files->items) != 0) {
        graft_free(copy);
        return -1;
    }
    files->items[files->n++] = (struct graft_plugin_file){copy, status->st_dev, status->st_ino};
    return 0;
}

/* Adds a file if something of that name exists. Returns 0, or -1 if memory ran out. */
static int add_existing(struct graft_plugin_files *files, const char *name) {
    struct stat status;
    return stat(name, &status) == 0 || lstat(name, &status) == 0 ? add(files, name, &status) : 0;
}

/* Handles one entry of a directory. Returns 0, or -1 if memory ran out. */
static int add_entry(struct graft_plugin_files *files, const char *directory, const char *entry) {
    int result = -1;
    struct stat status;
    if (entry[0] == '.') {
        return 0;
    }
    char *path = graft_path_join(directory, entry);
    char *object = path != NULL ? graft_format("%s/%s.so", path, entry) : NULL;
    char *family = path != NULL ? graft_format("%s/%s.family.json", path, entry) : NULL;
    if (object != NULL && family != NULL) {
        int is_folder = stat(path, &status) == 0 && S_ISDIR(status.st_mode);
        int is_plugin = graft_ends_with(entry, ".so") || graft_family_file_is(entry);
        if (is_plugin) {
            result = add_existing(files, path);
        } else {
            result = !is_folder || (add_existing(files, object) == 0 && add_existing(files, family) == 0) ? 0 : -1;
        }
    }
    graft_free(family);
    graft_free(object);
    graft_free(path);
    return result;
}

static int read_directory(const char *directory, struct graft_plugin_files *found, struct graft_error *error) {
    DIR *stream = opendir(directory);
    int status = GRAFT_OK;
    if (stream == NULL) {
        status = graft_fail_errno(error, GRAFT_ERROR_PLUGIN, directory, "cannot be read as a plugins directory", errno);
        graft_error_hint(error,
                         "expected a folder that contains NAME.so or NAME/NAME.so, or the like with .family.json");
        return status;
    }
    for (;;) {
        errno = 0;
        const struct dirent *entry = readdir(stream);
        if (entry == NULL) {
            break;
        }
        if (add_entry(found, directory, entry->d_name) != 0) {
            status = graft_fail_memory(error, directory);
            goto done;
        }
    }
    if (errno != 0) {
        status = graft_fail_errno(error, GRAFT_ERROR_PLUGIN, directory, "cannot be read completely", errno);
    }

done:
    (void)closedir(stream);
    return status;
}

/* Moves the files of `found` that are new to `files`. */
static int take_new(struct graft_plugin_files *files, struct graft_plugin_files *found, struct graft_error *error) {
    for (size_t i = 0; i < found->n; i++) {
        if (is_known(files, &found->items[i])) {
            continue;
        }
        if (graft_grow(&files->items, &files->capacity, files->n, sizeof *files->items) != 0) {
            return graft_fail_memory(error, found->items[i].name);
        }
        files->items[files->n++] = found->items[i];
        found->items[i].name = NULL;
    }
    return GRAFT_OK;
}

static int add_empty(struct graft_plugin_files *files, const char *directory, struct graft_error *error) {
    if (graft_grow(&files->empty, &files->empty_capacity, files->n_empty, sizeof *files->empty) != 0) {
        return graft_fail_memory(error, directory);
    }
    files->empty[files->n_empty++] = directory;
    return GRAFT_OK;
}

int graft_plugin_files_find(const char *const *directories, int n, struct graft_plugin_files *files,
                            struct graft_error *error) {
    int status = GRAFT_OK;
    for (int i = 0; i < n && status == GRAFT_OK; i++) {
        struct graft_plugin_files found = {0};
        status = read_directory(directories[i], &found, error);
        if (status == GRAFT_OK && found.n > 0) {
            qsort(found.items, found.n, sizeof *found.items, compare_names);
            status = take_new(files, &found, error);
        } else if (status == GRAFT_OK) {
            status = add_empty(files, directories[i], error);
        }
        graft_plugin_files_free(&found);
    }
    return status;
}

int graft_plugin_files_name(const char *name, struct graft_plugin_files *files, struct graft_error *error) {
    struct stat status = {0}; /* zero if the file cannot be examined; opening it reports why */
    (void)stat(name, &status);
    return add(files, name, &status) == 0 ? GRAFT_OK : graft_fail_memory(error, name);
}

void graft_plugin_files_free(struct graft_plugin_files *files) {
    for (size_t i = 0; i < files->n; i++) {
        graft_free(files->items[i].name);
    }
    graft_free(files->items);
    graft_free(files->empty);
    *files = (struct graft_plugin_files){0};
}

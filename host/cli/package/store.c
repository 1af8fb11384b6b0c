/* SPDX-License-Identifier: Apache-2.0 */
/* The folder where packages are installed. */
#define _GNU_SOURCE /* renameat2 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/disk.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/folder.h"
#include "cli/package/manifest.h"
#include "cli/package/package.h"
#include "cli/program.h"

int package_folder(const struct graft_options *options, int make, char **folder, struct graft_error *error) {
    if (options->plugins_dirs.count > 1) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "--plugins-dir", "expected one folder of installed plugins");
    }
    const int is_given = options->plugins_dirs.count == 1 && strcmp(options->plugins_dirs.items[0], "default") != 0;
    *folder = is_given ? graft_strdup(options->plugins_dirs.items[0]) : graft_program_user_plugins_dir();
    if (*folder == NULL) {
        return is_given ? graft_fail_memory(error, "--plugins-dir")
                        : graft_error_set(error, GRAFT_ERROR_USAGE, "--plugins-dir",
                                          "missing: neither XDG_DATA_HOME nor HOME says where plugins of yours are");
    }
    return make ? graft_folder_make_all(*folder, error) : GRAFT_OK;
}

static int write_file(const char *path, const struct package_file *file, struct graft_error *error) {
    int fd = -1;
    int failed = graft_disk_create(path, &fd);
    if (failed == 0) {
        failed = fchmod(fd, 0644) == 0 ? graft_disk_write(fd, file->bytes, file->length) : errno;
        int unfinished = graft_disk_finish(fd);
        failed = failed != 0 ? failed : unfinished;
    }
    return failed == 0 ? GRAFT_OK : graft_fail_errno(error, GRAFT_ERROR_IO, path, "cannot be written", failed);
}

int package_write_folder(const char *folder, const struct package_file *files, size_t n, struct graft_error *error) {
    if (mkdir(folder, 0755) != 0) {
        return graft_fail_errno(error, GRAFT_ERROR_IO, folder, "cannot be made", errno);
    }
    int status = GRAFT_OK;
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        char *path = graft_path_join(folder, files[i].name);
        status = path != NULL ? write_file(path, &files[i], error) : graft_fail_memory(error, folder);
        graft_free(path);
    }
    int failed = status == GRAFT_OK ? graft_disk_sync_folder(folder) : 0;
    return failed == 0 ? status : graft_fail_errno(error, GRAFT_ERROR_IO, folder, "cannot be synced", failed);
}

void package_remove_folder(const char *folder) {
    DIR *stream = opendir(folder);
    const struct dirent *entry;
    while (stream != NULL && (entry = readdir(stream)) != NULL) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            (void)unlinkat(dirfd(stream), entry->d_name, 0);
        }
    }
    if (stream != NULL) {
        (void)closedir(stream);
    }
    (void)rmdir(folder);
}

/* For file systems that cannot exchange two names: for a moment nothing is called `to`. Returns 0 or an errno. */
static int exchange_in_steps(const char *from, const char *to) {
    char *aside = graft_format("%s.old", from);
    int failed = aside != NULL ? graft_disk_rename(to, aside) : ENOMEM;
    if (failed == 0) {
        failed = graft_disk_rename(from, to);
        (void)graft_disk_rename(aside, failed == 0 ? from : to);
    }
    graft_free(aside);
    return failed;
}

int package_exchange(const char *from, const char *to, struct graft_error *error) {
    int failed = 0;
    if (!graft_file_exists(to)) {
        failed = graft_disk_rename(from, to);
    } else if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_EXCHANGE) != 0) {
        failed = errno == EINVAL || errno == ENOSYS ? exchange_in_steps(from, to) : errno;
    }
    return failed == 0 ? GRAFT_OK : graft_fail_errno(error, GRAFT_ERROR_IO, to, "cannot be put in place", failed);
}

/* --- Pins --- */

/* Whether a list "ID,ID" has the id. */
static int has_id(const char *list, const char *id) {
    size_t length = strlen(id);
    for (const char *at = list; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, id, length) == 0 && (at[length] == ',' || at[length] == '\0')) {
            return 1;
        }
    }
    return 0;
}

/* Checks the plugin of a package, which is called `name` if it is there, against the manifest. */
static int check_pin(const char *package, const char *id, const char *name, struct graft_error *error) {
    char sha256[GRAFT_SHA256_DIGITS + 1];
    struct manifest manifest = {0};
    char *object = graft_path_join(package, name);
    int status = object != NULL ? GRAFT_OK : graft_fail_memory(error, package);
    if (status == GRAFT_OK && graft_file_exists(object)) {
        status = manifest_read_folder(package, &manifest, error);
        const char *pinned = status == GRAFT_OK ? manifest_sha256(&manifest, name) : NULL;
        if (status == GRAFT_OK) {
            status = graft_sha256_file(object, GRAFT_ERROR_PLUGIN, sha256, error);
        }
        if (status == GRAFT_OK && (pinned == NULL || strcmp(pinned, sha256) != 0)) {
            (void)graft_error_set(error, GRAFT_ERROR_PLUGIN, object,
                                  "it is not what was installed: %s has the SHA-256 %s, the file has %s", MANIFEST_NAME,
                                  pinned != NULL ? pinned : "of other files", sha256);
            graft_error_hint(error, "install it again, or remove it: %s remove %s", graft_program_name(), id);
            status = GRAFT_ERROR_PLUGIN;
        }
    }
    manifest_finish(&manifest);
    graft_free(object);
    return status;
}

/* Checks the plugin in FOLDER/ID, be it code or a family file; without a manifest any plugin is accepted. */
static int check_pins(const char *folder, const char *id, struct graft_error *error) {
    static const char *const machines[] = {"", MANIFEST_ANY_MACHINE};
    char *package = graft_path_join(folder, id);
    int status = package != NULL ? GRAFT_OK : graft_fail_memory(error, folder);
    const size_t n = status == GRAFT_OK && manifest_exists(package) ? sizeof machines / sizeof machines[0] : 0;
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        char *name = manifest_plugin_name(id, machines[i]);
        status = name != NULL ? check_pin(package, id, name, error) : graft_fail_memory(error, folder);
        graft_free(name);
    }
    graft_free(package);
    return status;
}

int package_check_pins(const char *const *directories, size_t n, const char *only, struct graft_error *error) {
    int status = GRAFT_OK;
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        DIR *stream = opendir(directories[i]); /* loading plugins reports unreadable directories */
        const struct dirent *entry;
        while (status == GRAFT_OK && stream != NULL && (entry = readdir(stream)) != NULL) {
            if (entry->d_name[0] != '.' && (only == NULL || has_id(only, entry->d_name))) {
                status = check_pins(directories[i], entry->d_name, error);
            }
        }
        if (stream != NULL) {
            (void)closedir(stream);
        }
    }
    return status;
}

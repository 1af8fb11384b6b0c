/* SPDX-License-Identifier: Apache-2.0 */
/* `list --installed` and `remove`: the packages in a folder. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/json_writer.h"
#include "base/nearest.h"
#include "cli/commands/commands.h"
#include "cli/output.h"
#include "cli/package/manifest.h"
#include "cli/package/package.h"
#include "cli/program.h"

static int is_visible(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

/* Whether FOLDER/NAME is a package. */
static int is_package(const char *folder, const char *name) {
    char *package = graft_path_join(folder, name);
    int is = package != NULL && manifest_exists(package);
    graft_free(package);
    return is;
}

/* Whether the package's plugin has the hash that it was installed with. */
static int is_unchanged(const char *package, const struct manifest *manifest) {
    char sha256[GRAFT_SHA256_DIGITS + 1];
    struct graft_error ignored = graft_error_none();
    char *name = manifest_plugin_name(manifest->id, manifest->machine);
    char *path = name != NULL ? graft_path_join(package, name) : NULL;
    const char *pinned = name != NULL ? manifest_sha256(manifest, name) : NULL;
    int same = path != NULL && pinned != NULL &&
               graft_sha256_file(path, GRAFT_ERROR_PLUGIN, sha256, &ignored) == GRAFT_OK && strcmp(sha256, pinned) == 0;
    graft_free(path);
    graft_free(name);
    return same;
}

/* Prints a package as a line, or adds it to `array`. */
static int print_package(const char *folder, const char *name, graft_json *array, struct graft_error *error) {
    struct manifest manifest = {0};
    struct graft_writer writer = {0};
    char *package = graft_path_join(folder, name);
    int status = package != NULL ? manifest_read_folder(package, &manifest, error) : graft_fail_memory(error, folder);
    if (status == GRAFT_OK && array == NULL) {
        graft_output_line(stdout, "%s %s (%s): %s; %s%s", manifest.id, manifest.version, package, manifest.description,
                          manifest.license, is_unchanged(package, &manifest) ? "" : "; changed since it was installed");
    } else if (status == GRAFT_OK) {
        graft_json *object = graft_json_new_object();
        graft_writer_set_string(&writer, object, "id", manifest.id);
        graft_writer_set_string(&writer, object, "version", manifest.version);
        graft_writer_set_string(&writer, object, "license", manifest.license);
        graft_writer_set_string(&writer, object, "description", manifest.description);
        graft_writer_set_string(&writer, object, "folder", package);
        graft_writer_set_bool(&writer, object, "unchanged", is_unchanged(package, &manifest));
        graft_writer_append(&writer, array, object);
        status = writer.failed ? graft_fail_memory(error, folder) : GRAFT_OK;
    }
    manifest_finish(&manifest);
    graft_free(package);
    return status;
}

int graft_command_list_installed(const struct graft_options *options, struct graft_error *error) {
    struct dirent **entries = NULL;
    char *folder = NULL;
    graft_json *array = options->json ? graft_json_new_array() : NULL;
    int status = package_folder(options, 0, &folder, error);
    int n = status == GRAFT_OK ? scandir(folder, &entries, is_visible, alphasort) : 0; /* no folder: nothing is there */
    for (int i = 0; i < n; i++) {
        if (status == GRAFT_OK && is_package(folder, entries[i]->d_name)) {
            status = print_package(folder, entries[i]->d_name, array, error);
        }
        free(entries[i]); /* the C library's, as is the list */
    }
    free(entries);
    if (status == GRAFT_OK && options->json) {
        status = array != NULL ? graft_output_json(array, stdout, 1, error) : graft_fail_memory(error, "list");
    }
    graft_json_free(array);
    graft_free(folder);
    return status;
}

/* Nothing of the name is installed: the nearest that is. */
static int not_installed(const char *folder, const char *id, struct graft_error *error) {
    struct graft_nearest nearest = {.wanted = id};
    struct dirent **entries = NULL;
    int n = scandir(folder, &entries, is_visible, alphasort);
    for (int i = 0; i < n; i++) {
        if (is_package(folder, entries[i]->d_name)) {
            graft_nearest_add(&nearest, entries[i]->d_name);
        }
    }
    (void)graft_error_set(error, GRAFT_ERROR_USAGE, id, "no package of this name is installed in %s", folder);
    graft_nearest_hint(&nearest, error);
    graft_error_hint(error, "%s list --installed names those there are", graft_program_name());
    for (int i = 0; i < n; i++) {
        free(entries[i]); /* the C library's, as is the list */
    }
    free(entries);
    return GRAFT_ERROR_USAGE;
}

int graft_command_remove(const struct graft_options *options, struct graft_error *error) {
    char *folder = NULL, *place = NULL, *aside = NULL;
    if (options->subject == NULL || strchr(options->subject, '/') != NULL || options->subject[0] == '.') {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "remove", "expected the id of an installed plugin");
    }
    int status = package_folder(options, 0, &folder, error);
    if (status == GRAFT_OK && !is_package(folder, options->subject)) {
        status = not_installed(folder, options->subject, error);
    } else if (status == GRAFT_OK) {
        place = graft_path_join(folder, options->subject);
        aside = graft_format("%s/.%s-%ld", folder, options->subject, (long)getpid());
        status =
            place != NULL && aside != NULL ? package_exchange(place, aside, error) : graft_fail_memory(error, folder);
    }
    if (status == GRAFT_OK) {
        package_remove_folder(aside);
        if (!options->quiet) {
            graft_output_line(stdout, "removed %s from %s", options->subject, folder);
        }
    }
    graft_free(aside);
    graft_free(place);
    graft_free(folder);
    return status;
}

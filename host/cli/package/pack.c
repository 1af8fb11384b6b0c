/* SPDX-License-Identifier: Apache-2.0 */
/* `pack`: makes an archive of a plugin's folder, or a Debian package. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/output.h"
#include "cli/package/deb.h"
#include "cli/package/manifest.h"
#include "cli/package/package.h"
#include "cli/package/signature.h"
#include "cli/package/ustar.h"
#include "cli/setup.h"

int package_is_plugin(const char *name) {
    return graft_ends_with(name, ".so") || graft_ends_with(name, ".family.json");
}

static int is_plugin(const struct dirent *entry) {
    return entry->d_name[0] != '.' && package_is_plugin(entry->d_name);
}

/* The one plugin of a folder. */
static int find_plugin(const char *folder, char **path, struct graft_error *error) {
    struct dirent **entries = NULL;
    int n = scandir(folder, &entries, is_plugin, alphasort);
    int status = GRAFT_OK;
    *path = NULL;
    if (n < 0) {
        status = graft_fail_errno(error, GRAFT_ERROR_IO, folder, "cannot be read as the folder of a plugin", errno);
        if (package_is_plugin(folder)) {
            graft_error_hint(error, "put it into a folder with a README.md and a LICENSE, and name that");
        }
    } else if (n != 1) {
        status = graft_error_set(error, GRAFT_ERROR_USAGE, folder,
                                 "expected one plugin, NAME.so or NAME.family.json, found %d", n);
        graft_error_hint(error, n == 0 ? "build it first" : "keep the others in another folder");
    } else if ((*path = graft_path_join(folder, entries[0]->d_name)) == NULL) {
        status = graft_fail_memory(error, folder);
    }
    for (int i = 0; i < n; i++) {
        free(entries[i]); /* the C library's, as is the list */
    }
    free(entries);
    return status;
}

/* The files of a package, without the manifest. */
struct content {
    struct package_file files[USTAR_MAX_FILES];
    size_t n;
};

static int add_file(struct content *content, const char *path, const char *name, struct graft_error *error) {
    struct package_file *file = &content->files[content->n];
    if (!ustar_is_name(name) || strlen(name) >= sizeof file->name) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, path, "its name cannot be that of a file in a package");
    }
    (void)snprintf(file->name, sizeof file->name, "%s", name);
    int status = graft_file_read(path, USTAR_MAX_BYTES, GRAFT_ERROR_IO, &file->bytes, &file->length, error);
    content->n += status == GRAFT_OK;
    return status;
}

/* Adds the first of the names that the folder has; `*found` becomes 1 then. */
static int add_first(struct content *content, const char *folder, const char *const *names, int *found,
                     struct graft_error *error) {
    int status = GRAFT_OK;
    *found = 0;
    for (; *names != NULL && !*found && status == GRAFT_OK; names++) {
        char *path = graft_path_join(folder, *names);
        if (path == NULL) {
            return graft_fail_memory(error, folder);
        }
        *found = graft_file_exists(path);
        status = *found ? add_file(content, path, *names, error) : GRAFT_OK;
        graft_free(path);
    }
    return status;
}

/* Adds the documents: README is required, and a licence is missed. */
static int add_documents(const struct graft_options *options, struct content *content, struct graft_error *error) {
    static const char *const readmes[] = {"README.md", "README", "README.txt", NULL};
    static const char *const licences[] = {"LICENSE", "LICENSE.txt", "LICENSE.md", "COPYING", NULL};
    int found = 0;
    int status = add_first(content, options->subject, readmes, &found, error);
    if (status == GRAFT_OK && !found) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, options->subject,
                               "expected a README.md that says what the plugin is for");
    }
    if (status == GRAFT_OK) {
        status = add_first(content, options->subject, licences, &found, error);
    }
    if (status == GRAFT_OK && !found && !options->quiet) {
        graft_output_line(stderr, "note: %s: no file LICENSE: the package names the licence, but does not have it",
                          options->subject);
    }
    return status;
}

static int make_manifest(const struct graft_plugin *descriptor, const char *machine, struct content *content,
                         struct graft_error *error) {
    graft_json *document = manifest_new(descriptor, machine);
    int failed = document == NULL;
    for (size_t i = 0; i < content->n && !failed; i++) {
        failed = manifest_add(document, content->files[i].name, content->files[i].bytes, content->files[i].length);
    }
    char *text = failed ? NULL : graft_json_dump(document, 2);
    graft_json_free(document);
    if (text == NULL) {
        return graft_fail_memory(error, "manifest");
    }
    struct package_file *file = &content->files[content->n++];
    (void)snprintf(file->name, sizeof file->name, "%s", MANIFEST_NAME);
    file->bytes = text;
    file->length = strlen(text);
    return GRAFT_OK;
}

static int write_archive(const struct graft_options *options, const struct graft_plugin *descriptor,
                         const char *machine, const struct content *content, struct graft_error *error) {
    struct graft_text archive = {0};
    const struct package_file *manifest = &content->files[content->n - 1];
    char *path = options->output != NULL ? graft_strdup(options->output)
                                         : graft_format("%s-%s-%s.tar", descriptor->id, descriptor->version, machine);
    ustar_add(&archive, descriptor->id, manifest->name, manifest->bytes, manifest->length);
    for (size_t i = 0; i + 1 < content->n; i++) {
        const struct package_file *file = &content->files[i];
        ustar_add(&archive, descriptor->id, file->name, file->bytes, file->length);
    }
    ustar_end(&archive);
    const struct graft_file_piece piece = {archive.bytes, archive.length};
    int status = path == NULL || archive.failed ? graft_fail_memory(error, descriptor->id) : GRAFT_OK;
    if (status == GRAFT_OK && options->key.count > 0) { /* first: without a signature there is no archive either */
        status = signature_write(path, archive.bytes, archive.length, options->key.items[0], error);
    }
    if (status == GRAFT_OK) {
        status = graft_file_write(path, &piece, 1, error);
    }
    if (status == GRAFT_OK && !options->quiet) {
        graft_output_line(stdout, "%s: %s %s, %zu bytes%s", path, descriptor->id, descriptor->version, archive.length,
                          options->key.count > 0 ? ", signed" : "");
    }
    graft_free(path);
    graft_text_free(&archive);
    return status;
}

/* The plugin was loaded, so its descriptor is sound. */
static int pack_plugin(const struct graft_options *options, const char *path, const struct graft_plugin *descriptor,
                       struct graft_error *error) {
    struct content content = {.n = 0};
    char machine[64] = MANIFEST_ANY_MACHINE;
    if (graft_ends_with(path, ".so")) {
        manifest_machine(machine);
    }
    char *object = manifest_plugin_name(descriptor->id, machine);
    int status = object != NULL ? GRAFT_OK : graft_fail_memory(error, path);
    if (status == GRAFT_OK && !ustar_is_name(descriptor->version)) {
        status = graft_error_set(error, GRAFT_ERROR_PLUGIN, path,
                                 "version: a package is called by it: expected letters, digits, '.', '_', '+' and '-'");
    }
    if (status == GRAFT_OK) {
        status = add_file(&content, path, object, error);
    }
    if (status == GRAFT_OK) {
        status = add_documents(options, &content, error);
    }
    if (status == GRAFT_OK && strcmp(descriptor->license, "none given") == 0 && !options->quiet) {
        graft_output_line(stderr, "note: %s: the package names no licence: say which in \"license\"", path);
    }
    if (status == GRAFT_OK) {
        status = make_manifest(descriptor, machine, &content, error);
    }
    if (status == GRAFT_OK) {
        status = options->deb ? deb_write(options, descriptor, machine, content.files, content.n, error)
                              : write_archive(options, descriptor, machine, &content, error);
    }
    for (size_t i = 0; i < content.n; i++) {
        graft_free(content.files[i].bytes);
    }
    graft_free(object);
    return status;
}

int graft_command_pack(const struct graft_options *options, struct graft_error *error) {
    struct graft_library *library = NULL;
    char *path = NULL;
    if (options->subject == NULL || options->key.count > 1 || (options->deb && options->key.count > 0)) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, options->subject == NULL ? "pack" : "--key",
                               options->subject == NULL ? "expected the folder of a plugin"
                                                        : "expected one secret key, of an archive");
    }
    int status = find_plugin(options->subject, &path, error);
    if (status == GRAFT_OK) {
        status = graft_library_create(&library, error);
    }
    if (status == GRAFT_OK) {
        status = graft_setup_plugin(options, path, library, error);
    }
    if (status == GRAFT_OK) {
        status = pack_plugin(options, path, graft_library_plugin(library, 0)->descriptor, error);
    }
    graft_library_free(library);
    graft_free(path);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* `install`: checks a package, tries and validates its plugin, and puts it where `--plugins-dir default` looks. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/output.h"
#include "cli/package/manifest.h"
#include "cli/package/package.h"
#include "cli/package/signature.h"
#include "cli/package/ustar.h"
#include "cli/program.h"
#include "cli/screen.h"
#include "cli/setup.h"
#include "graft/host/validate.h"

/* A package that is read. */
struct package {
    char *archive;
    size_t length;
    struct ustar_file files[USTAR_MAX_FILES]; /* [n] in the archive; the first is the manifest */
    size_t n;
    struct manifest manifest;
    char *signer; /* the file of the key that it is signed with; NULL: no key is trusted */
};

static void package_finish(struct package *package) {
    manifest_finish(&package->manifest);
    graft_free(package->signer);
    graft_free(package->archive);
}

/* --- Checking the archive --- */

/* Checks that the manifest lists the plugin's file for its machine, and not a second plugin. */
static int check_plugin_file(const char *source, const struct manifest *manifest, struct graft_error *error) {
    char *name = manifest_plugin_name(manifest->id, manifest->machine);
    char *other = manifest_plugin_name(manifest->id, manifest_is_code(manifest->machine) ? MANIFEST_ANY_MACHINE : "");
    int status = name == NULL || other == NULL ? graft_fail_memory(error, source) : GRAFT_OK;
    if (status == GRAFT_OK && manifest_sha256(manifest, name) == NULL) {
        status = graft_error_set(error, GRAFT_ERROR_MODEL, source, "no package: it has no %s", name);
    } else if (status == GRAFT_OK && manifest_sha256(manifest, other) != NULL) {
        status = graft_error_set(error, GRAFT_ERROR_MODEL, source, "no package: %s beside %s", other, name);
    }
    graft_free(other);
    graft_free(name);
    return status;
}

/* Checks that the archive has exactly the manifest's files, with their sizes and hashes. */
static int check_files(const char *source, const struct package *package, struct graft_error *error) {
    const struct manifest *manifest = &package->manifest;
    char sha256[GRAFT_SHA256_DIGITS + 1];
    if (graft_json_size(manifest->files) != package->n - 1) {
        return graft_error_set(error, GRAFT_ERROR_VERIFY, source, "the archive has %zu files, but its manifest %zu",
                               package->n - 1, graft_json_size(manifest->files));
    }
    for (size_t i = 1; i < package->n; i++) {
        const struct ustar_file *file = &package->files[i];
        const char *wanted = manifest_sha256(manifest, file->name);
        graft_sha256_of(file->bytes, file->length, sha256);
        if (wanted == NULL || strcmp(wanted, sha256) != 0) {
            return graft_error_set(error, GRAFT_ERROR_VERIFY, source,
                                   "%s: the manifest has %s, but the file has the SHA-256 %s", file->name,
                                   wanted != NULL ? wanted : "no such file", sha256);
        }
    }
    return check_plugin_file(source, manifest, error);
}

static int read_manifest(const char *source, struct package *package, struct graft_error *error) {
    const struct ustar_file *first = &package->files[0];
    graft_json *document = NULL;
    char *name = graft_format("%s: " MANIFEST_NAME, source);
    int status = name != NULL ? GRAFT_OK : graft_fail_memory(error, source);
    if (status == GRAFT_OK && (strcmp(first->name, MANIFEST_NAME) != 0 || first->length > MANIFEST_MAX_BYTES)) {
        status = graft_error_set(error, GRAFT_ERROR_MODEL, source,
                                 "no package: expected " MANIFEST_NAME " as the first file, got %s", first->name);
    }
    if (status == GRAFT_OK) {
        status = graft_json_parse_strict(first->bytes, first->length, name, &document, error);
    }
    if (status == GRAFT_OK) {
        status = manifest_read(document, name, &package->manifest, error);
    }
    if (status == GRAFT_OK && strcmp(package->manifest.id, first->folder) != 0) {
        status = graft_error_set(error, GRAFT_ERROR_MODEL, name, "id: expected %s, like the folder in the archive",
                                 first->folder);
    }
    graft_free(name);
    return status;
}

static int read_package(const struct graft_options *options, struct package *package, struct graft_error *error) {
    const char *source = options->subject;
    char *keys = graft_program_trusted_keys();
    int status = graft_file_read(source, USTAR_MAX_BYTES, GRAFT_ERROR_IO, &package->archive, &package->length, error);
    if (status == GRAFT_OK) { /* before anything in it is looked at */
        status = signature_check(source, package->archive, package->length, options->key.items, options->key.count,
                                 keys, &package->signer, error);
    }
    if (status == GRAFT_OK) {
        status = ustar_read(package->archive, package->length, source, package->files, &package->n, error);
    }
    if (status == GRAFT_OK) {
        status = read_manifest(source, package, error);
    }
    if (status == GRAFT_OK) {
        status = check_files(source, package, error);
    }
    if (status == GRAFT_OK) {
        status = manifest_check_host(&package->manifest, source, error);
    }
    graft_free(keys);
    return status;
}

/* --- Looking at the plugin, in the folder from which it is put in place --- */

/* The result of the trial, or of the checks. */
struct verdict {
    const char *source;
    const char *id;
    struct graft_error *error;
};

static void on_trial(void *data, const char *file, int32_t verdict, const char *cause) {
    const struct verdict *told = data;
    (void)file;
    if (verdict != GRAFT_TRIAL_SAFE) {
        (void)graft_error_set(told->error, GRAFT_ERROR_PLUGIN, told->source, "%s cannot be opened: %s", told->id,
                              cause);
    }
}

static int on_check(void *data, const struct graft_check_result *result, struct graft_error *error) {
    const struct verdict *told = data;
    if (result->outcome != GRAFT_CHECK_FAILED) {
        return GRAFT_OK;
    }
    (void)graft_error_set(error, GRAFT_ERROR_VERIFY, told->source, "%s fails the check %s: %s", told->id,
                          result->info->name, result->text);
    graft_error_hint(error, "%s validate makes all checks", graft_program_name());
    return GRAFT_ERROR_VERIFY;
}

static void on_progress(void *data, const struct graft_check_info *info, int32_t done, int32_t total) {
    (void)data;
    graft_screen_name(info->name);
    graft_screen_count(done, total, "checks");
    graft_screen_tick();
}

/* Checks that the plugin's descriptor matches the manifest. */
static int compare_descriptor(const struct graft_options *options, const char *object, const struct manifest *manifest,
                              struct graft_error *error) {
    const struct graft_library_options wanted = {.struct_size = sizeof wanted, .inspect_only = 1};
    struct graft_library *library = NULL;
    int status = graft_library_create(&library, error);
    if (status == GRAFT_OK) {
        status = graft_library_load_plugin(library, object, &wanted, error);
    }
    if (status == GRAFT_OK) {
        const struct graft_plugin *descriptor = graft_library_plugin(library, 0)->descriptor;
        if (strcmp(descriptor->id, manifest->id) != 0 || strcmp(descriptor->version, manifest->version) != 0 ||
            strcmp(descriptor->license, manifest->license) != 0) {
            status = graft_error_set(error, GRAFT_ERROR_VERIFY, options->subject,
                                     "the manifest says %s %s (%s), the plugin in it %s %s (%s)", manifest->id,
                                     manifest->version, manifest->license, descriptor->id, descriptor->version,
                                     descriptor->license);
        }
    }
    graft_library_free(library);
    return status;
}

static int check_plugin(const struct graft_options *options, const struct package *package, const char *folder,
                        struct graft_error *error) {
    struct verdict told = {options->subject, package->manifest.id, error};
    const struct graft_check_options checks = {.struct_size = sizeof checks, .on_progress = on_progress};
    char *name = manifest_plugin_name(package->manifest.id, package->manifest.machine);
    char *object = name != NULL ? graft_path_join(folder, name) : NULL;
    const char *files[] = {object};
    graft_free(name);
    if (object == NULL) {
        return graft_fail_memory(error, folder);
    }
    if (manifest_is_code(package->manifest.machine)) {
        graft_plugins_try(files, 1, on_trial, &told);
    }
    int status = error->code;
    if (status == GRAFT_OK) {
        status = compare_descriptor(options, object, &package->manifest, error);
    }
    if (status == GRAFT_OK) {
        graft_screen_begin("checking", 0);
        status = graft_plugin_check(object, &checks, on_check, &told, error);
        graft_screen_end();
    }
    graft_free(object);
    return status;
}

/* --- Putting it in place --- */

/* The version of the package in a folder; NULL if it has none. An existing folder that is no package is an error. */
static int find_earlier(const char *place, char **version, struct graft_error *error) {
    struct manifest manifest = {0};
    int status = GRAFT_OK;
    *version = NULL;
    if (graft_file_exists(place)) {
        status = manifest_exists(place) ? manifest_read_folder(place, &manifest, error)
                                        : graft_error_set(error, GRAFT_ERROR_USAGE, place,
                                                          "is there already, and was not put there by `install`");
        if (status == GRAFT_OK) {
            *version = graft_strdup(manifest.version);
            status = *version != NULL ? GRAFT_OK : graft_fail_memory(error, place);
        }
    }
    manifest_finish(&manifest);
    return status;
}

static void report(const struct graft_options *options, const struct package *package, const char *place,
                   const char *earlier) {
    if (options->quiet) {
        return;
    }
    graft_output_line(stdout, "installed %s %s in %s%s%s; %s%s", package->manifest.id, package->manifest.version, place,
                      earlier != NULL ? ", in the place of " : "", earlier != NULL ? earlier : "",
                      package->signer != NULL ? "signed with " : "its signature was not checked: no key is trusted",
                      package->signer != NULL ? package->signer : "");
}

/* Writes the package to the hidden folder `aside`, and exchanges it with `place` if the plugin passes. */
static int put(const struct graft_options *options, const struct package *package, const char *aside, const char *place,
               struct graft_error *error) {
    struct package_file files[USTAR_MAX_FILES];
    char *earlier = NULL;
    for (size_t i = 0; i < package->n; i++) {
        (void)snprintf(files[i].name, sizeof files[i].name, "%s", package->files[i].name);
        files[i].bytes = (char *)(uintptr_t)package->files[i].bytes; /* only read */
        files[i].length = package->files[i].length;
    }
    int status = find_earlier(place, &earlier, error);
    if (status == GRAFT_OK) {
        status = package_write_folder(aside, files, package->n, error);
    }
    if (status == GRAFT_OK) {
        status = check_plugin(options, package, aside, error);
    }
    if (status == GRAFT_OK) {
        status = package_exchange(aside, place, error);
    }
    if (status == GRAFT_OK) {
        report(options, package, place, earlier);
    }
    package_remove_folder(aside); /* the earlier one, or what is not to be installed */
    graft_free(earlier);
    return status;
}

int graft_command_install(const struct graft_options *options, struct graft_error *error) {
    struct package package = {.archive = NULL};
    char *folder = NULL, *aside = NULL, *place = NULL;
    if (options->subject == NULL) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "install", "expected a package, which `pack` makes");
    }
    if (package_is_plugin(options->subject)) {
        (void)graft_error_set(error, GRAFT_ERROR_USAGE, options->subject, "a plugin, not a package of one");
        graft_error_hint(error, "put it into a folder with a README.md and a LICENSE, and pack that first: %s pack DIR",
                         graft_program_name());
        return GRAFT_ERROR_USAGE;
    }
    int status = read_package(options, &package, error);
    if (status == GRAFT_OK) {
        status = package_folder(options, 1, &folder, error);
    }
    if (status == GRAFT_OK) {
        aside = graft_format("%s/.%s-%ld", folder, package.manifest.id, (long)getpid());
        place = graft_path_join(folder, package.manifest.id);
        status = aside != NULL && place != NULL ? put(options, &package, aside, place, error)
                                                : graft_fail_memory(error, folder);
    }
    graft_free(place);
    graft_free(aside);
    graft_free(folder);
    package_finish(&package);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/package/manifest.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/json_writer.h"
#include "cli/package/ustar.h"

void manifest_machine(char machine[64]) {
    struct utsname name;
    if (uname(&name) != 0) {
        (void)snprintf(machine, 64, "unknown");
        return;
    }
    (void)snprintf(machine, 64, "%.30s-%.30s", name.machine, name.sysname);
    for (char *at = machine; *at != '\0'; at++) {
        *at = (char)tolower((unsigned char)*at);
    }
}

graft_json *manifest_new(const struct graft_plugin *descriptor, const char *machine) {
    struct graft_writer writer = {0};
    graft_json *document = graft_json_new_object();
    graft_json *abi = graft_json_new_object();
    graft_writer_set_int(&writer, document, "graft_package", 1);
    graft_writer_set_string(&writer, document, "id", descriptor->id);
    graft_writer_set_string(&writer, document, "version", descriptor->version);
    graft_writer_set_string(&writer, document, "license", descriptor->license);
    graft_writer_set_string(&writer, document, "description", descriptor->description);
    graft_writer_set_int(&writer, abi, "major", descriptor->abi_major);
    graft_writer_set_int(&writer, abi, "minor_needed", descriptor->abi_minor_needed);
    graft_writer_set_int(&writer, abi, "minor_built", descriptor->abi_minor_built);
    graft_writer_set(&writer, document, "abi", abi);
    graft_writer_set_string(&writer, document, "machine", machine);
    graft_writer_set(&writer, document, "files", graft_json_new_array());
    return graft_writer_finish(&writer, document);
}

int manifest_add(graft_json *document, const char *name, const char *bytes, size_t length) {
    struct graft_writer writer = {0};
    char sha256[GRAFT_SHA256_DIGITS + 1];
    graft_json *file = graft_json_new_object();
    graft_json *files = (graft_json *)(uintptr_t)graft_json_get(document, "files"); /* the document is ours */
    graft_sha256_of(bytes, length, sha256);
    graft_writer_set_string(&writer, file, "name", name);
    graft_writer_set_int(&writer, file, "bytes", (int64_t)length);
    graft_writer_set_string(&writer, file, "sha256", sha256);
    graft_writer_append(&writer, files, file);
    return writer.failed ? -1 : 0;
}

/* --- Reading --- */

static int expected(const char *source, const char *field, const char *what, struct graft_error *error) {
    return graft_error_set(error, GRAFT_ERROR_MODEL, source, "%s: expected %s", field, what);
}

/* A text without NUL and control characters; NULL if it is none. */
static const char *text_of(const graft_json *object, const char *key) {
    size_t length = 0;
    const char *text = graft_json_string(graft_json_get(object, key), &length);
    if (text == NULL || strlen(text) != length) {
        return NULL;
    }
    for (const char *at = text; *at != '\0'; at++) {
        if (iscntrl((unsigned char)*at)) {
            return NULL;
        }
    }
    return text;
}

static int check_files(const struct manifest *manifest, const char *source, struct graft_error *error) {
    static const char *const keys[] = {"name", "bytes", "sha256", NULL};
    for (size_t i = 0; i < graft_json_size(manifest->files); i++) {
        const graft_json *file = graft_json_at(manifest->files, i);
        const char *name = text_of(file, "name"), *sha256 = text_of(file, "sha256");
        if (name == NULL || !ustar_is_name(name) || sha256 == NULL || !graft_sha256_is(sha256) ||
            graft_json_type(graft_json_get(file, "bytes")) != GRAFT_JSON_INT ||
            graft_json_other_key(file, keys) != NULL) {
            return expected(source, "files", "objects with a name, bytes and a sha256, and nothing else", error);
        }
    }
    return GRAFT_OK;
}

int manifest_read(graft_json *document_take, const char *source, struct manifest *manifest, struct graft_error *error) {
    static const char *const keys[] = {"graft_package", "id",      "version", "license", "description",
                                       "abi",           "machine", "files",   NULL};
    const graft_json *abi = graft_json_get(document_take, "abi");
    *manifest = (struct manifest){
        .document = document_take,
        .id = text_of(document_take, "id"),
        .version = text_of(document_take, "version"),
        .license = text_of(document_take, "license"),
        .description = text_of(document_take, "description"),
        .abi_major = graft_json_int(graft_json_get(abi, "major")),
        .abi_minor_needed = graft_json_int(graft_json_get(abi, "minor_needed")),
        .machine = text_of(document_take, "machine"),
        .files = graft_json_get(document_take, "files"),
    };
    if (graft_json_int(graft_json_get(document_take, "graft_package")) != 1) {
        return expected(source, "graft_package", "1, the version of the format that this program knows", error);
    }
    const char *other = graft_json_other_key(document_take, keys);
    if (other != NULL) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, source, "%.100s: no such field", other);
    }
    if (manifest->id == NULL || !ustar_is_name(manifest->id)) {
        return expected(source, "id", "the plugin's id", error);
    }
    if (manifest->version == NULL || !ustar_is_name(manifest->version)) {
        return expected(source, "version", "a version of letters, digits, '.', '_', '+' and '-'", error);
    }
    if (manifest->license == NULL || manifest->description == NULL || manifest->machine == NULL) {
        return expected(source,
                        manifest->license == NULL       ? "license"
                        : manifest->description == NULL ? "description"
                                                        : "machine",
                        "a text", error);
    }
    if (graft_json_type(graft_json_get(abi, "major")) != GRAFT_JSON_INT ||
        graft_json_type(graft_json_get(abi, "minor_needed")) != GRAFT_JSON_INT) {
        return expected(source, "abi", "an object with the integers major and minor_needed", error);
    }
    return check_files(manifest, source, error);
}

void manifest_finish(struct manifest *manifest) {
    graft_json_free(manifest->document);
    *manifest = (struct manifest){0};
}

int manifest_exists(const char *folder) {
    char *path = graft_path_join(folder, MANIFEST_NAME);
    int exists = path != NULL && graft_file_exists(path);
    graft_free(path);
    return exists;
}

int manifest_read_folder(const char *folder, struct manifest *manifest, struct graft_error *error) {
    char *path = graft_path_join(folder, MANIFEST_NAME);
    graft_json *document = NULL;
    *manifest = (struct manifest){0};
    int status = path != NULL ? graft_json_read_strict(path, MANIFEST_MAX_BYTES, &document, error)
                              : graft_fail_memory(error, folder);
    if (status == GRAFT_OK) {
        status = manifest_read(document, path, manifest, error);
    }
    graft_free(path);
    return status;
}

const char *manifest_sha256(const struct manifest *manifest, const char *name) {
    for (size_t i = 0; i < graft_json_size(manifest->files); i++) {
        const graft_json *file = graft_json_at(manifest->files, i);
        if (strcmp(graft_json_string(graft_json_get(file, "name"), NULL), name) == 0) {
            return graft_json_string(graft_json_get(file, "sha256"), NULL);
        }
    }
    return NULL;
}

int manifest_is_code(const char *machine) {
    return strcmp(machine, MANIFEST_ANY_MACHINE) != 0;
}

char *manifest_plugin_name(const char *id, const char *machine) {
    return graft_format("%s%s", id, manifest_is_code(machine) ? ".so" : ".family.json");
}

int manifest_check_host(const struct manifest *manifest, const char *source, struct graft_error *error) {
    char machine[64];
    manifest_machine(machine);
    if (manifest_is_code(manifest->machine) && strcmp(manifest->machine, machine) != 0) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, source, "%s is built for %.60s, but this machine is %s",
                               manifest->id, manifest->machine, machine);
    }
    if (manifest->abi_major != GRAFT_ABI_MAJOR || manifest->abi_minor_needed > GRAFT_ABI_MINOR) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, source,
                               "%s needs the plugin ABI %lld.%lld, but this host speaks %d.%d", manifest->id,
                               (long long)manifest->abi_major, (long long)manifest->abi_minor_needed, GRAFT_ABI_MAJOR,
                               GRAFT_ABI_MINOR);
    }
    return GRAFT_OK;
}

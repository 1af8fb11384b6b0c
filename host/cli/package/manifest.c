/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/package/manifest.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/json_field.h"
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

/* Whether a text has no control characters. */
static int is_line(const char *text) {
    while (*text != '\0' && !iscntrl((unsigned char)*text)) {
        text++;
    }
    return *text == '\0';
}

static int check_files(const struct graft_field *files, struct graft_error *error) {
    struct fields {
        const char *name, *sha256;
        int64_t bytes;
    } fields;
    static const struct graft_member members[] = {
        {"name", .offset = offsetof(struct fields, name), .fits = ustar_is_name, .what = "the name of a file"},
        {"bytes", GRAFT_MEMBER_INT, .offset = offsetof(struct fields, bytes)},
        {"sha256", .offset = offsetof(struct fields, sha256), .fits = graft_sha256_is, .what = "a SHA-256"},
        {0},
    };
    int status = graft_field_array(files, error);
    for (size_t i = 0; i < graft_json_size(files->value) && status == GRAFT_OK; i++) {
        const struct graft_field file = graft_field_at(files, i);
        status = graft_field_read(&file, members, &fields, error);
    }
    return status;
}

int manifest_read(graft_json *document_take, const char *source, struct manifest *manifest, struct graft_error *error) {
    static const char version[] = "a version of letters, digits, '.', '_', '+' and '-'", line[] = "a line of text";
    static const struct graft_member members[] = {
        {"graft_package", .kind = GRAFT_MEMBER_SKIPPED},
        {"id", .offset = offsetof(struct manifest, id), .fits = ustar_is_name, .what = "the plugin's id"},
        {"version", .offset = offsetof(struct manifest, version), .fits = ustar_is_name, .what = version},
        {"license", .offset = offsetof(struct manifest, license), .fits = is_line, .what = line},
        {"description", .offset = offsetof(struct manifest, description), .fits = is_line, .what = line},
        {"machine", .offset = offsetof(struct manifest, machine), .fits = is_line, .what = line},
        {"abi", .kind = GRAFT_MEMBER_SKIPPED},
        {"files", GRAFT_MEMBER_ARRAY, .offset = offsetof(struct manifest, files)},
        {0},
    };
    static const struct graft_member abi_members[] = {
        {"major", GRAFT_MEMBER_INT, .offset = offsetof(struct manifest, abi_major)},
        {"minor_needed", GRAFT_MEMBER_INT, .offset = offsetof(struct manifest, abi_minor_needed)},
        {0},
    };
    const struct graft_field root = graft_field_root(document_take, source);
    const struct graft_field format = graft_field_get(&root, "graft_package"), abi = graft_field_get(&root, "abi"),
                             files = graft_field_get(&root, "files");
    *manifest = (struct manifest){.document = document_take};
    if (graft_json_int(format.value) != 1) {
        return graft_field_error(&format, error, "expected 1, the version of the format that this program knows");
    }
    int status = graft_field_read(&root, members, manifest, error);
    if (status == GRAFT_OK) {
        status = graft_field_read_some(&abi, abi_members, manifest, error);
    }
    return status == GRAFT_OK ? check_files(&files, error) : status;
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

/* SPDX-License-Identifier: Apache-2.0 */
/* manifest.json, the first file of a package's archive, which describes the package. Once installed, it also serves as
 * a lock: a plugin next to a manifest is opened only if its SHA-256 is the one in the manifest. */
#ifndef GRAFT_CLI_PACKAGE_MANIFEST_H
#define GRAFT_CLI_PACKAGE_MANIFEST_H

#include "base/json.h"
#include "base/sha256.h"
#include "graft/plugin.h"

#define MANIFEST_NAME "manifest.json"

enum { MANIFEST_MAX_BYTES = 1 << 20 };

/* The machine of a package that holds a family file. */
#define MANIFEST_ANY_MACHINE "any"

/* Texts belong to the document. */
struct manifest {
    graft_json *document;
    const char *id;
    const char *version;
    const char *license;
    const char *description;
    int64_t abi_major;
    int64_t abi_minor_needed; /* the host's minor version must be this at least */
    const char *machine;      /* "x86_64-linux", or MANIFEST_ANY_MACHINE */
    const graft_json *files;  /* [{"name", "bytes", "sha256"}] */
};

/* This machine's name in packages: "x86_64-linux". */
void manifest_machine(char machine[64]);

/* A new manifest of a plugin, without files; NULL if memory ran out. */
graft_json *manifest_new(const struct graft_plugin *descriptor, const char *machine);

/* Adds a file to a manifest. Returns 0, or -1 if memory ran out. */
int manifest_add(graft_json *document, const char *name, const char *bytes, size_t length);

/* Reads an untrusted manifest; a field that is missing or wrong is GRAFT_ERROR_MODEL. The manifest takes ownership of
 * `document_take`, even on failure; manifest_finish frees it. */
int manifest_read(graft_json *document_take, const char *source, struct manifest *manifest, struct graft_error *error);
void manifest_finish(struct manifest *manifest);

/* Reads FOLDER/manifest.json. */
int manifest_read_folder(const char *folder, struct manifest *manifest, struct graft_error *error);

/* The SHA-256 of a file; NULL if the manifest does not list it. */
const char *manifest_sha256(const struct manifest *manifest, const char *name);

/* Whether a package for that machine holds code; otherwise it holds a family file, which runs on each machine and needs
 * no library. */
int manifest_is_code(const char *machine);

/* Whether FOLDER/manifest.json exists: FOLDER is an installed package. */
int manifest_exists(const char *folder);

/* The plugin's file in a package for that machine: "ID.so" or "ID.family.json". The caller frees it; NULL if memory ran
 * out. */
char *manifest_plugin_name(const char *id, const char *machine);

/* Checks that the plugin is for this machine and this host's ABI. */
int manifest_check_host(const struct manifest *manifest, const char *source, struct graft_error *error);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plugins that a library has loaded, and what each brings.
 *
 *     const struct graft_plugin_info *plugin;
 *     for (size_t i = 0; (plugin = graft_library_plugin(library, i)) != NULL; i++) {
 *         printf("%s replaces %d classes\n", plugin->descriptor->id, (int)plugin->descriptor->n_replacements);
 *     }
 *
 * A plugin's own descriptor (graft/plugin.h) says what it brings. It has been validated, so every field may be read.
 */
#ifndef GRAFT_HOST_PLUGINS_H
#define GRAFT_HOST_PLUGINS_H

#include <stddef.h>
#include <stdint.h>

#include "graft/error.h"
#include "graft/plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

struct graft_library;
struct graft_library_options;

struct graft_plugin_info {
    uint32_t struct_size;
    int32_t rank; /* 1, 2, ... in the order of options->allow, of later calls behind that; 0 without one */
    const struct graft_plugin *descriptor; /* the plugin's */
    const char *file;           /* the directory as given, and the path below it; NULL: registered by a call */
    const char *const *options; /* [descriptor->n_options] values of its options, as text: "max", "64", "true" */
};

/* [any] Plugin number `i`: those from files in the order of loading, then those registered by calls; NULL after the
 * last. Owned by the library, const, valid until graft_library_free. */
const struct graft_plugin_info *graft_library_plugin(const struct graft_library *library, size_t i);

/* Digits of a SHA-256, lower-case hexadecimal. */
#define GRAFT_SHA256_LENGTH 64

/* [any] The SHA-256 of plugin number `i`'s file as it is now, ended by a NUL; "" for one registered by a call. */
int graft_library_plugin_sha256(const struct graft_library *library, size_t i, char sha256[GRAFT_SHA256_LENGTH + 1],
                                struct graft_error *error);

/* [load] Asked about each file before anything in it runs: `file` as in struct graft_plugin_info, and its SHA-256 as
 * above. `*open` is 1; with 0 the file is left out, with a note. A status that is not GRAFT_OK ends the load. Files
 * that cannot be read or export no graft_plugin_entry are not asked about: those are not opened anyway. */
typedef int (*graft_plugin_file_function)(void *data, const char *file, const char *sha256, int32_t *open,
                                          struct graft_error *error);

/* [load] Like graft_library_load_plugins (graft/host/graft.h), for a single file, which counts as named in
 * options->allow, and before the plugins found in options->directories. A file that is not a plugin is an error. */
int graft_library_load_plugin(struct graft_library *library, const char *file,
                              const struct graft_library_options *options, struct graft_error *error);

#ifdef __cplusplus
}
#endif

#endif

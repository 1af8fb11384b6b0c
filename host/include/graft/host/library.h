/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A library: loads plugins, and lists what they and the host offer.
 *
 *     struct graft_error error = graft_error_none();
 *     struct graft_library *library;
 *     graft_library_create(&library, &error);
 *     graft_library_load_plugins(library, directories, 1, NULL, &error);
 *     for (size_t i = 0; (plugin = graft_library_plugin(library, i)) != NULL; i++) {
 *         printf("%s replaces %d classes\n", plugin->descriptor->id, (int)plugin->descriptor->n_replacements);
 *     }
 *
 * registry.h has functions that register classes, plugins and conversions by calls.
 */
#ifndef GRAFT_HOST_LIBRARY_H
#define GRAFT_HOST_LIBRARY_H

#include <stddef.h>
#include <stdint.h>

#include "graft/class.h"
#include "graft/error.h"
#include "graft/family.h"
#include "graft/host/process.h"
#include "graft/plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Plugins and the registries they fill. */
struct graft_library;

/* A model directory opened by a library, with the replacements registered at that moment. */
struct graft_model;

/* [any] Creates a library with the built-in classes. The caller frees it, after its models. */
int graft_library_create(struct graft_library **library, struct graft_error *error);

/* Settings of a library that override those of the process (graft/host/process.h). They hold for calls of this library
 * and of its models, on the calling thread and on worker threads. A setting that was not made follows the process.
 * Libraries in one process do not affect each other. */

/* [any] Sets the number of threads; 0 or less: as set for the process. */
void graft_library_set_threads(struct graft_library *library, int32_t count);

/* [any] Sets where log lines go, as graft_log_set_sink does; NULL: as set for the process. */
void graft_library_set_log(struct graft_library *library, graft_log_sink sink, void *data);

/* [any] Sets who is told of progress, as graft_progress_set_sink does; NULL: as set for the process. */
void graft_library_set_progress(struct graft_library *library, graft_progress_sink sink, void *data);

/* [load] Sets how plugins are tried, as graft_trials_set_program does (graft/host/validate.h); "": not at all; NULL: as
 * set for the process. `program` is copied. */
int graft_library_set_trials(struct graft_library *library, const char *program, int32_t again,
                             struct graft_error *error);

/* [any] Frees a library whose models have been freed. Calls `deinit` of its plugins, except for those that another
 * library has loaded too. Accepts NULL. */
void graft_library_free(struct graft_library *library);

/* [load] Called for each file before anything in it runs. `file` is as in struct graft_plugin_info, and `sha256` is
 * that of its content. `*open` is 1; if the function sets it to 0, the file is left out, with a note. Any status but
 * GRAFT_OK ends the load. Not called for files that cannot be read or do not export graft_plugin_entry, which are never
 * opened. */
typedef int (*graft_plugin_file_function)(void *data, const char *file, const char *sha256, int32_t *open,
                                          struct graft_error *error);

struct graft_library_options {
    uint32_t struct_size;
    /* 1: a plugin that cannot be used, or whose pattern matches classes of another interface in a model, becomes a note
     * instead of an error. For models this holds only if it is set in all calls of the library. */
    int32_t skip_bad_plugins;
    const char *const
        *allow; /* ids of the plugins to load; their order decides if several replace one module; NULL: all plugins */
    int32_t n_allow;
    /* 1: plugins are validated and can be inspected, but are neither initialised nor registered. */
    int32_t inspect_only;
    /* Values of plugins' options (graft/option.h): "ID.NAME=VALUE". GRAFT_ERROR_USAGE: the plugin is not loaded or has
     * no such option, the value is invalid or given twice, or another library of this process uses the plugin with
     * other values. */
    const char *const *plugin_options; /* [n_plugin_options] */
    int32_t n_plugin_options;
    int32_t n_directories;
    const char *const *directories;     /* [n_directories] for graft_library_load_plugin; NULL: none */
    graft_plugin_file_function on_file; /* decides which files are opened; NULL: all */
    void *on_file_data;                 /* for `on_file` */
    /* 1: plugins that `allow` does not name are loaded too, after those that it names. This enables a plugin that has
     * to be named before it replaces anything, without listing all others. */
    int32_t with_others;
};

#define GRAFT_LIBRARY_OPTIONS_SIZE_1_0 GRAFT_END_OF(struct graft_library_options, with_others)

/* [load] Loads the plugins in `n` directories and registers what they bring: all of them or, on an error, none.
 * `options` may be NULL. Later calls of this function or of graft_library_load_plugin add plugins after those already
 * loaded: an id that is already loaded is an error, and plugins in options->allow of an earlier call precede those of a
 * later one. Options are for the plugins of the same call. Loading while a model of the library is open is
 * GRAFT_ERROR_USAGE. */
int graft_library_load_plugins(struct graft_library *library, const char *const *directories, int32_t n,
                               const struct graft_library_options *options, struct graft_error *error);

/* [load] Loads a single file like graft_library_load_plugins, as if it were named first in options->allow and found
 * before the plugins in options->directories. A file that is not a plugin is an error. */
int graft_library_load_plugin(struct graft_library *library, const char *file,
                              const struct graft_library_options *options, struct graft_error *error);

/* [any] Note `i` on plugins (files that are not plugins, plugins that were skipped) or on registered keys
 * (graft/host/registry.h); NULL after the last. */
const char *graft_library_note(const struct graft_library *library, size_t i);

/* --- The plugins of a library --- */

/*
 * A plugin's own descriptor (graft/plugin.h) says what it brings. It has been validated, so every field may be read.
 */

struct graft_plugin_info {
    uint32_t struct_size;
    int32_t rank; /* position in options->allow, from 1; later calls continue the count; 0 without a list */
    const struct graft_plugin *descriptor; /* the plugin's */
    const char *file;           /* the directory as given, and the path below it; NULL: registered by a call */
    const char *const *options; /* [descriptor->n_options] values of its options, as text: "max", "64", "true" */
};

/* [any] Plugin `i`: first those from files, in the order of loading, then those registered by calls; NULL after the
 * last. Owned by the library, const, valid until graft_library_free. */
const struct graft_plugin_info *graft_library_plugin(const struct graft_library *library, size_t i);

/* Digits of a SHA-256, lower-case hexadecimal. */
#define GRAFT_SHA256_LENGTH 64

/* [any] Computes the SHA-256 of plugin `i`'s file as it is now, NUL-terminated; "" for a plugin registered by a
 * call. */
int graft_library_plugin_sha256(const struct graft_library *library, size_t i, char sha256[GRAFT_SHA256_LENGTH + 1],
                                struct graft_error *error);

/* --- Classes and families of a library --- */

struct graft_class_info {
    uint32_t struct_size;
    int32_t is_private;            /* 1: used only by other classes of its plugin, and cannot be replaced */
    const struct graft_class *cls; /* name, interface, flags, conversions: graft/class.h */
    const char *plugin;            /* id of the plugin that brings it; NULL: the host's own */
    const char *file;              /* the plugin's file; or NULL */
};

/* [any] The host's classes and the private ones of plugins, in the order of registration. The caller frees the array
 * with graft_classes_free; classes and strings belong to whoever registered them and are valid as long as the library.
 * Replacements are not included: see their plugin or the patch mapping (graft/host/registry.h). */
int graft_library_classes(struct graft_library *library, struct graft_class_info **classes, size_t *n,
                          struct graft_error *error);

/* [any] Frees the array. Accepts NULL. */
void graft_classes_free(struct graft_class_info *classes);

/* [any] Finds a class by name among these or, failing that, among plugins' replacements. An unknown name is
 * GRAFT_ERROR_USAGE; the error's hint suggests similar names. */
int graft_library_find_class(struct graft_library *library, const char *name, const struct graft_class **cls,
                             struct graft_error *error);

struct graft_family_info {
    uint32_t struct_size;
    int32_t is_used;                   /* 0: another family of the same model type takes precedence */
    const struct graft_family *family; /* graft/family.h */
    const char *plugin;                /* id of the plugin that brings it; NULL: the host's own */
    const char *file;                  /* the plugin's file; or NULL */
};

/* [any] Returns the families of the host and of plugins, sorted by model type. The caller frees the array with
 * graft_families_free. The families and strings it points to belong to whoever registered them, and are valid as long
 * as the library. */
int graft_library_families(struct graft_library *library, struct graft_family_info **families, size_t *n,
                           struct graft_error *error);

/* [any] Frees the array. Accepts NULL. */
void graft_families_free(struct graft_family_info *families);

/* --- Things that can be chosen by name --- */

/* Choices that replace no class (struct graft_model_options): how attention and experts are computed, and kernels,
 * which are alternative forwards for one class. */

enum graft_implementation_kind {
    GRAFT_IMPLEMENTATION_ATTENTION = 0,
    GRAFT_IMPLEMENTATION_EXPERTS = 1,
    GRAFT_IMPLEMENTATION_KERNEL = 2,
    GRAFT_IMPLEMENTATION_LOGITS_PROCESSOR = 3 /* chosen in struct graft_generation, not for a model */
};

struct graft_implementation_info {
    uint32_t struct_size;
    int32_t kind;               /* GRAFT_IMPLEMENTATION_... */
    const char *name;           /* "sdpa" */
    const char *plugin;         /* id of the plugin that provides it; NULL: the host's own */
    const char *class_name;     /* kernel: the class that has the forward; else NULL */
    const char *original_class; /* kernel: the class that it replaces the forward of; else NULL */
    int64_t modules;            /* kernel of a model: how many modules run it; else 0 */
    int32_t is_default;         /* 1: used if nothing else is chosen */
    uint32_t reserved;
};

/* [any] What the model uses: 0 is its attention implementation, 1 its experts implementation, followed by the kernels
 * that its modules run; NULL after the last. Owned by the model, const, valid until graft_model_free. */
const struct graft_implementation_info *graft_model_implementation(const struct graft_model *model, size_t i);

/* [any] The choices available, in the order of registration. The caller frees the array with
 * graft_implementations_free; the strings belong to whoever registered them and are valid as long as the library. */
int graft_library_implementations(struct graft_library *library, struct graft_implementation_info **implementations,
                                  size_t *n, struct graft_error *error);

/* [any] Frees the array. Accepts NULL. */
void graft_implementations_free(struct graft_implementation_info *implementations);

#ifdef __cplusplus
}
#endif

#endif

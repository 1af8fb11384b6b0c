/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A library: the plugins that it loads, and what they and the host have to offer.
 *
 *     struct graft_error error = graft_error_none();
 *     struct graft_library *library;
 *     graft_library_create(&library, &error);
 *     graft_library_load_plugins(library, directories, 1, NULL, &error);
 *     for (size_t i = 0; (plugin = graft_library_plugin(library, i)) != NULL; i++) {
 *         printf("%s replaces %d classes\n", plugin->descriptor->id, (int)plugin->descriptor->n_replacements);
 *     }
 *
 * What is registered by calls is in registry.h.
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

/* [any] A library with the built-in classes. The caller frees it, after its models. */
int graft_library_create(struct graft_library **library, struct graft_error *error);

/*
 * What a library does otherwise than the rest of the process (graft/host/process.h), which it follows in what it has
 * not chosen: on the threads that call it, its models and what they give, and on those that help them. Of two libraries
 * in one process neither changes what the other does.
 */

/* [any] How many threads help from now on; 0 or less: as the process has it. */
void graft_library_set_threads(struct graft_library *library, int32_t count);

/* [any] Where log lines go from now on, as in graft_log_set_sink; NULL: where the process has them go. */
void graft_library_set_log(struct graft_library *library, graft_log_sink sink, void *data);

/* [any] Who is told of progress from now on, as in graft_progress_set_sink; NULL: whom the process tells. */
void graft_library_set_progress(struct graft_library *library, graft_progress_sink sink, void *data);

/* [load] How plugins are tried from now on, as in graft_trials_set_program (graft/host/validate.h); "": not at all;
 * NULL: as the process does. `program` is copied. */
int graft_library_set_trials(struct graft_library *library, const char *program, int32_t again,
                             struct graft_error *error);

/* [any] Frees a library whose models are freed, and calls `deinit` of those of its plugins that no other library has
 * loaded. Accepts NULL. */
void graft_library_free(struct graft_library *library);

/* [load] Asked about each file before anything in it runs: `file` as in struct graft_plugin_info, and its SHA-256 as
 * above. `*open` is 1; with 0 the file is left out, with a note. A status that is not GRAFT_OK ends the load. Files
 * that cannot be read or export no graft_plugin_entry are not asked about: those are not opened anyway. */
typedef int (*graft_plugin_file_function)(void *data, const char *file, const char *sha256, int32_t *open,
                                          struct graft_error *error);

struct graft_library_options {
    uint32_t struct_size;
    /* 1: a plugin that cannot be used, or whose pattern matches classes of another interface in a model, becomes a note
     * instead of an error; in models only if all calls of the library say so. */
    int32_t skip_bad_plugins;
    const char *const
        *allow; /* ids of the plugins to load, in the order that decides where several replace one module; NULL: all */
    int32_t n_allow;
    /* 1: plugins are validated and can be inspected, but are neither initialised nor registered. */
    int32_t inspect_only;
    /* What is chosen of the plugins' options (graft/option.h): "ID.NAME=VALUE". One for a plugin that is not loaded or
     * has no such option, a value that it cannot have, and one that is given twice are errors (GRAFT_ERROR_USAGE), as
     * are other values than a plugin has that another library of this process uses. */
    const char *const *plugin_options; /* [n_plugin_options] */
    int32_t n_plugin_options;
    int32_t n_directories;
    const char *const *directories;     /* [n_directories]: of graft_library_load_plugin; NULL: none */
    graft_plugin_file_function on_file; /* decides by a file's content whether it is opened; NULL: all are */
    void *on_file_data;                 /* for `on_file` */
    /* 1: plugins that `allow` does not name are loaded as well, behind those it names. So one that has to be named
     * before it replaces anything is enabled without listing all others. */
    int32_t with_others;
};

#define GRAFT_LIBRARY_OPTIONS_SIZE_1_0 GRAFT_END_OF(struct graft_library_options, with_others)

/* [load] Loads the plugins found in `n` directories and registers what they bring: all of them, or none. `options` may
 * be NULL. A later call, of this or of graft_library_load_plugin, adds plugins to those that are there, as if they were
 * found behind them: an id that one of them has is taken, and where options->allow of both calls orders plugins, those
 * of the first call go first. Options of plugins are for those of this call. While a model of the library is open that
 * is an error (GRAFT_ERROR_USAGE). */
int graft_library_load_plugins(struct graft_library *library, const char *const *directories, int32_t n,
                               const struct graft_library_options *options, struct graft_error *error);

/* [load] Like graft_library_load_plugins, for a single file, which counts as named in options->allow, and before the
 * plugins found in options->directories. A file that is not a plugin is an error. */
int graft_library_load_plugin(struct graft_library *library, const char *file,
                              const struct graft_library_options *options, struct graft_error *error);

/* [any] Notes on plugins (files that are not plugins, plugins skipped) and on registered keys (graft/host/registry.h):
 * number `i`, or NULL after the last. */
const char *graft_library_note(const struct graft_library *library, size_t i);

/* --- Its plugins --- */

/*
 * A plugin's own descriptor (graft/plugin.h) says what it brings. It has been validated, so every field may be read.
 */

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

/* --- Its classes and families --- */

struct graft_class_info {
    uint32_t struct_size;
    int32_t is_private;            /* 1: found only by the classes of its plugin; nothing replaces it */
    const struct graft_class *cls; /* name, interface, flags, conversions: graft/class.h */
    const char *plugin;            /* id of the plugin that brings it; NULL: the host's own */
    const char *file;              /* of that plugin; or NULL */
};

/* [any] The host's classes and the private ones of plugins, in the order of registration. The caller frees the array
 * with graft_classes_free; classes and strings belong to whoever registered them and are valid as long as the library.
 * Replacements are not included: see their plugin or the patch mapping (graft/host/registry.h). */
int graft_library_classes(struct graft_library *library, struct graft_class_info **classes, size_t *n,
                          struct graft_error *error);

/* [any] Frees the array. Accepts NULL. */
void graft_classes_free(struct graft_class_info *classes);

/* [any] The class with that name among them, or else among the replacements that plugins bring. An unknown name is
 * GRAFT_ERROR_USAGE; the error's hint suggests similar names. */
int graft_library_find_class(struct graft_library *library, const char *name, const struct graft_class **cls,
                             struct graft_error *error);

struct graft_family_info {
    uint32_t struct_size;
    int32_t is_used;                   /* 0: another family of the same model type goes before it */
    const struct graft_family *family; /* graft/family.h */
    const char *plugin;                /* id of the plugin that brings it; NULL: the host's own */
    const char *file;                  /* of that plugin; or NULL */
};

/* [any] The families of the host and of plugins, by model type: an array of the caller's, who frees it with
 * graft_families_free. Families and strings are those who registered them gave, valid as long as the library. */
int graft_library_families(struct graft_library *library, struct graft_family_info **families, size_t *n,
                           struct graft_error *error);

/* [any] Frees such an array; takes NULL. */
void graft_families_free(struct graft_family_info *families);

/* --- What is chosen by name --- */

/* Choices that replace no class (struct graft_model_options): how attention and experts are computed, and kernels,
 * which are alternative forwards for one class. */

enum graft_implementation_kind {
    GRAFT_IMPLEMENTATION_ATTENTION = 0,
    GRAFT_IMPLEMENTATION_EXPERTS = 1,
    GRAFT_IMPLEMENTATION_KERNEL = 2,
    GRAFT_IMPLEMENTATION_LOGITS_PROCESSOR = 3 /* chosen by struct graft_generation, not by a model */
};

struct graft_implementation_info {
    uint32_t struct_size;
    int32_t kind;               /* GRAFT_IMPLEMENTATION_... */
    const char *name;           /* "sdpa" */
    const char *plugin;         /* id of the plugin that provides it; NULL: the host's own */
    const char *class_name;     /* kernel: the class that it brings; else NULL */
    const char *original_class; /* kernel: the class that it is for; else NULL */
    int64_t modules;            /* kernel of a model: how many modules run it; else 0 */
    int32_t is_default;         /* 1: used if nothing else is chosen */
    uint32_t reserved;
};

/* [any] What the model uses: number 0 is its attention, number 1 its experts, then come the kernels that its modules
 * run; NULL after the last. Owned by the model, const, valid until graft_model_free. */
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

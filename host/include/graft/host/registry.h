/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mapping of class names to the classes that replace them: what plugins bring and what calls register, in the order
 * of registration, with the meaning that transformers gives its patch mapping.
 *
 * The key of a call is tried as the exact name of a class first; then keys are searched as regular expressions (PCRE2)
 * anywhere in the name, and the first that is found decides. A key that is no regular expression is a name only, which
 * becomes a note once it matters. A plugin says of its keys which of the two they are.
 *
 * One rule orders all: the patch of a load (graft/host/patch.h) goes before calls, calls before plugins, plugins
 * registered by calls before those from files, which go in the order that the user gave. Of one source, exact names go
 * before patterns, and among those the first registered goes first; that one has the source's part in a module. Where
 * several sources have a part, those whose class calls super (GRAFT_CLASS_CALLS_SUPER) wrap each other in that order,
 * plugins without one in the order of their ids, and of the others the first is innermost; two plugins without an order
 * are an error then. A look-up by name gives the outermost class.
 * Scopes ask the same rule of the mapping as it was when they were entered.
 *
 * What plugins bring may be unregistered, cleared and overwritten like anything else; the plugin stays loaded. A model
 * opened works on the mapping as it is at that moment; changing it later changes later models only.
 *
 * All functions are [any] and may run at once in several threads; a call that fails changes nothing.
 */
#ifndef GRAFT_HOST_REGISTRY_H
#define GRAFT_HOST_REGISTRY_H

#include <stddef.h>

#include "graft/attention_implementation.h"
#include "graft/class.h"
#include "graft/error.h"
#include "graft/experts_implementation.h"
#include "graft/fusion.h"
#include "graft/kernel_override.h"
#include "graft/plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

struct graft_library;

/* One element of the mapping. Strings are copied; the class stays const and valid as long as the library and its
 * models. */
struct graft_patch {
    const char *key;                       /* the name of a class, or a regular expression for names */
    const struct graft_class *replacement; /* the class to build there */
    const char *module_path;        /* a regular expression that must be found in the module's path; NULL: everywhere */
    const char *const *model_types; /* NULL-terminated list of config.json's `model_type`; NULL: all */
    const char *group;              /* of those that work only together, as in graft/plugin.h; NULL: on its own */
    uint32_t flags;                 /* GRAFT_REPLACEMENT_... (graft/plugin.h), for the key as a pattern */
    /* What graft_library_patches tells; registering does not read it. */
    int32_t key_kind;   /* GRAFT_KEY_NAME or GRAFT_KEY_PATTERN, of a plugin's; 0: a name, and then a pattern */
    const char *plugin; /* id of the plugin that brought it; NULL: a library call */
    const char *file;   /* the plugin's; NULL: a library call brought it, or the plugin */
};

/* Adds `n` elements behind those there. A key that is registered, by a call or a plugin, is GRAFT_ERROR_USAGE; with
 * `overwrite` the new element takes the place of the first of that key, and others of it (a plugin may have one key for
 * several model types) go. */
int graft_library_register(struct graft_library *library, const struct graft_patch *patches, size_t n, int overwrite,
                           struct graft_error *error);

/* Removes all elements of `n` keys, the very texts that were registered, whoever registered them. A key that is not
 * there is GRAFT_ERROR_USAGE. Of a plugin's group (graft/plugin.h) the rest has no effect then. */
int graft_library_unregister(struct graft_library *library, const char *const *keys, size_t n,
                             struct graft_error *error);

/* Removes all elements, those of plugins too. */
int graft_library_clear(struct graft_library *library, struct graft_error *error);

/* A copy of the mapping, in order; changing it changes nothing else. The caller frees it with graft_patches_free,
 * before the library. */
int graft_library_patches(struct graft_library *library, struct graft_patch **patches, size_t *n,
                          struct graft_error *error);

/* Frees the copy. Takes NULL. */
void graft_patches_free(struct graft_patch *patches);

/* For models built by hand: from entering a scope to leaving it, the mapping as it was on entering is in force for
 * graft_library_class, in all threads, and goes before those of scopes entered earlier. Scopes may be left in any
 * order, also when an error ends what they were entered for. Loading models does not depend on scopes. */
struct graft_scope;

/* Enters a scope, which whoever entered it leaves before the library is freed. */
int graft_library_enter(struct graft_library *library, struct graft_scope **scope, struct graft_error *error);

/* Leaves a scope and frees it. */
void graft_library_leave(struct graft_library *library, struct graft_scope *scope_take);

/* What a class name stands for now: outside of scopes the host's own class. Only elements without module path and model
 * types count here. A replacement with another interface is an error. */
int graft_library_class(struct graft_library *library, const char *name, const struct graft_class **cls,
                        struct graft_error *error);

/* Registers all that a plugin brings (graft/plugin.h) from a descriptor in memory: classes with their private children,
 * replacements, fusion families, chains, and attention, experts and kernels to be chosen by name. It is checked as one
 * from a file is, its options have their defaults, `init` is called, and `deinit` when the library is freed; naming it
 * here is asking for what is lossy of it (GRAFT_CUSTOM_LOSSY). Plugins registered so go before those from files, in the
 * order of the calls. What is wrong with the descriptor, an id or a name that is taken, or an `init` that fails is
 * GRAFT_ERROR_PLUGIN. The
 * descriptor and all that it points to stay const and valid as long as the library and its models. */
int graft_library_register_plugin(struct graft_library *library, const struct graft_plugin *plugin,
                                  struct graft_error *error);

/* Adds attention to be chosen by name (graft_model_options). The same one again changes nothing; another one of its
 * name is GRAFT_ERROR_PLUGIN. What does not hold what its header says is GRAFT_ERROR_USAGE. It stays const and valid as
 * long as the library and its models. */
int graft_library_add_attention(struct graft_library *library, const struct graft_attention_implementation *attention,
                                struct graft_error *error);

/* The same for experts. */
int graft_library_add_experts(struct graft_library *library, const struct graft_experts_implementation *experts,
                              struct graft_error *error);

/* The same for a kernel; those of one name, for several classes, are used together. */
int graft_library_add_kernel(struct graft_library *library, const struct graft_kernel_override *kernel,
                             struct graft_error *error);

/* Adds a fusion family (graft/fusion.h) beside those of plugins, to be asked for by its name (graft_model_options). The
 * same one again changes nothing; another one of its name is an error. It stays const and valid as long as the library
 * and its models. */
int graft_library_add_fusion(struct graft_library *library, const struct graft_fusion_family *family,
                             struct graft_error *error);

/* Registers fusions for the models of a type, as transformers reads: the mapping gets the classes of the modules that
 * fit in the model of `directory` (of which config.json is read), each under its name and with its fused class, and the
 * list of conversions of its model type (graft/conversions.h) the families' transforms. Models of that type are then
 * fused where they are opened without asking: the modules found here, and no others of those classes. `fusion_config`
 * is as in graft_model_options; NULL: that of config.json. Doing it twice is doing it once; a transform that collides
 * with one registered is an error. */
int graft_library_register_fusion(struct graft_library *library, const char *directory, const char *fusion_config,
                                  struct graft_error *error);

#ifdef __cplusplus
}
#endif

#endif

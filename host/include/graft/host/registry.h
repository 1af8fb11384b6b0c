/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registers things by calls: entries of the patch mapping, plugins and what they may contain, and conversions for whole
 * models. They apply to all models that the library opens later, or to a single load.
 *
 * All functions are [any] and may run in several threads at once; a call that fails changes nothing.
 */
#ifndef GRAFT_HOST_REGISTRY_H
#define GRAFT_HOST_REGISTRY_H

#include <stddef.h>
#include <stdint.h>

#include "graft/attention_implementation.h"
#include "graft/class.h"
#include "graft/conversion.h"
#include "graft/error.h"
#include "graft/experts_implementation.h"
#include "graft/fusion.h"
#include "graft/kernel_override.h"
#include "graft/logits_processor.h"
#include "graft/plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

struct graft_library;
struct graft_scope;

/* --- The patch mapping --- */

/*
 * The patch mapping: class names and the classes that replace them, from plugins and from calls, in the order of
 * registration. It means what it means in transformers (register_patch_mapping, unregister_patch_mapping,
 * get_patch_mapping, clear_patch_mapping, apply_patches).
 *
 * A key from a call is first tried as the exact name of a class; then keys are searched as regular expressions (PCRE2)
 * anywhere in the name, and the first match decides. A key that is not a valid expression is a name only; there is a
 * note once it matters. A plugin says which of the two its keys are.
 *
 * If several entries match a module, sources are ordered: first the load patch, then calls, then plugins registered by
 * calls, then plugins from files in the order that the user gave. Each source contributes at most one class: exact
 * names take precedence over patterns, and among these the entry registered first counts. Classes that call super
 * (GRAFT_CLASS_CALLS_SUPER) wrap each other in this order, plugins without a given order by id. Of the other classes
 * only the first is used, as the innermost one; of two plugins without a given order it is the one with the exact name,
 * and two exact names or two patterns are an error. A look-up by name returns the outermost class. Scopes apply the
 * same rule to the mapping as it was when they were entered.
 *
 * Plugins' entries may be unregistered, cleared and overwritten like any others; the plugin stays loaded. A model uses
 * the mapping as it is when the model is opened; later changes affect later models only.
 */

/* An entry of the patch mapping. Strings are copied; the class must stay const and valid as long as the library and its
 * models. */
struct graft_patch {
    uint32_t struct_size;
    uint32_t flags;                        /* GRAFT_REPLACEMENT_... (graft/plugin.h), for the key as a pattern */
    const char *key;                       /* the name of a class, or a regular expression for names */
    const struct graft_class *replacement; /* the class to build there */
    const char *module_path;        /* a regular expression that must match in the module's path; NULL: everywhere */
    const char *const *model_types; /* NULL-terminated list of config.json's `model_type`; NULL: all */
    const char *group;              /* entries that work only together, as in graft/plugin.h; NULL: on its own */
    /* Filled in by graft_library_patches; ignored when registering. */
    int32_t key_kind;   /* GRAFT_KEY_NAME or GRAFT_KEY_PATTERN for a plugin's entry; 0: a name, then a pattern */
    uint32_t reserved;  /* 0 */
    const char *plugin; /* id of the plugin that brought it; NULL: a library call */
    const char *file;   /* the plugin's; NULL: the entry or its plugin was registered by a call */
};

#define GRAFT_PATCH_SIZE_1_0 GRAFT_END_OF(struct graft_patch, file)

/* register_patch_mapping: appends `n` entries. A key that is already registered, by a call or a plugin, is
 * GRAFT_ERROR_USAGE, unless `overwrite` is set: then the new entry replaces the first with that key, and the others (a
 * plugin may have one key for several model types) are removed. */
int graft_library_register(struct graft_library *library, const struct graft_patch *patches, size_t n, int overwrite,
                           struct graft_error *error);

/* unregister_patch_mapping: removes all entries with these `n` keys, exactly as they were registered, whoever
 * registered them. An unknown key is GRAFT_ERROR_USAGE. The rest of a plugin's group (graft/plugin.h) then has no
 * effect. */
int graft_library_unregister(struct graft_library *library, const char *const *keys, size_t n,
                             struct graft_error *error);

/* clear_patch_mapping: removes all entries, those of plugins too. */
int graft_library_clear(struct graft_library *library, struct graft_error *error);

/* get_patch_mapping: a copy of the mapping, in order: graft_struct_at. The caller frees it with graft_patches_free,
 * before the library. */
int graft_library_patches(struct graft_library *library, struct graft_patch **patches, size_t *n,
                          struct graft_error *error);

/* Frees the copy. Accepts NULL. */
void graft_patches_free(struct graft_patch *patches);

/* apply_patches, for models built by hand: from entering a scope to leaving it, graft_library_class uses the mapping as
 * it was on entering, in all threads, before those of scopes entered earlier. Scopes may be left in any order, and must
 * be left after errors too. Loading models does not depend on scopes. */

/* Enters a scope, which whoever entered it leaves before the library is freed. */
int graft_library_enter(struct graft_library *library, struct graft_scope **scope, struct graft_error *error);

/* Leaves a scope and frees it. */
void graft_library_leave(struct graft_library *library, struct graft_scope *scope_take);

/* What a class name stands for now; outside scopes it is the host's own class. Only entries without module path and
 * model types count here. A replacement with another interface is an error. */
int graft_library_class(struct graft_library *library, const char *name, const struct graft_class **cls,
                        struct graft_error *error);

/* Registers everything that a plugin brings (graft/plugin.h) from a descriptor in memory: classes with their private
 * children, replacements, fusion families, chains, and what is chosen by name (graft/host/library.h). The
 * descriptor is checked like one from a file, its options get their defaults, `init` is called, and `deinit` when the
 * library is freed. The call also enables the plugin's lossy classes (GRAFT_CUSTOM_LOSSY). Plugins registered this way
 * go before those from files, in the order of the calls. A fault in the descriptor, an id or name that is taken, or an
 * `init` that fails is GRAFT_ERROR_PLUGIN. The descriptor and everything it points to must stay const and valid as long
 * as the library and its models. */
int graft_library_register_plugin(struct graft_library *library, const struct graft_plugin *plugin,
                                  struct graft_error *error);

/* Adds an attention implementation to choose by name (graft_model_options). Adding the same one again changes nothing;
 * another one with its name is GRAFT_ERROR_PLUGIN. One that breaks the rules of its header is GRAFT_ERROR_USAGE. It
 * must stay const and valid as long as the library and its models. */
int graft_library_add_attention(struct graft_library *library, const struct graft_attention_implementation *attention,
                                struct graft_error *error);

/* Adds an experts implementation to choose by name, as graft_library_add_attention does. */
int graft_library_add_experts(struct graft_library *library, const struct graft_experts_implementation *experts,
                              struct graft_error *error);

/* Adds a kernel, as graft_library_add_attention does. Kernels of one name, for several classes, are used together. */
int graft_library_add_kernel(struct graft_library *library, const struct graft_kernel_override *kernel,
                             struct graft_error *error);

/* Adds a logits processor, which struct graft_generation names, as graft_library_add_attention does. Models that are
 * open already do not have it. */
int graft_library_add_logits_processor(struct graft_library *library, const struct graft_logits_processor *processor,
                                       struct graft_error *error);

/* Adds a fusion family (graft/fusion.h) to those of plugins, to be asked for by name (graft_model_options). Adding the
 * same one again changes nothing; another one with its name is an error. It must stay const and valid as long as the
 * library and its models. */
int graft_library_add_fusion(struct graft_library *library, const struct graft_fusion_family *family,
                             struct graft_error *error);

/* Registers fusions for the models of a type, as in transformers. For the modules that fit in the model of `directory`
 * (only its config.json is read), the patch mapping gets the names of their classes with the fused classes, and the
 * model type's list of conversions gets the families' transforms. Models of that type are
 * then fused without being asked to: the modules found here, and no others of those classes. `fusion_config` is as in
 * graft_model_options; NULL: that of config.json. Registering twice is the same as once; a transform that collides with
 * a registered one is an error. */
int graft_library_register_fusion(struct graft_library *library, const char *directory, const char *fusion_config,
                                  struct graft_error *error);

/* --- Conversions --- */

/*
 * Conversions for whole models, registered by calls: lists of transforms from the names and tensors of a checkpoint to
 * those of a model. A list is registered under a model type ("qwen2_moe") or the name of a model's class
 * ("Qwen2MoeForCausalLM", which goes before the type). Lists act first: the list renames and converts the checkpoint,
 * and classes look things up in the result. Layouts that the host supports need no list; lists are for those that none
 * of its classes knows.
 *
 * Classes, the host's and those of plugins, also own conversions (graft/conversion.h). While no list is registered
 * under a name, the name stands for these: those of the class, or of all classes of the model type as the patch mapping
 * has them now. A list registered over them with `overwrite` replaces them: in models opened
 * from then on, the class of that name, or the classes of that type, convert nothing themselves. Removing the list
 * restores their conversions. A class that a load patch or a fusion brings in uses its own conversions whatever is
 * registered.
 *
 * Transforms mean what they mean in transformers: all renamings are applied to a name in order, then the first
 * converter that matches. Patterns are regular expressions (PCRE2) that match anywhere in the name, and the target
 * replaces the match. docs/patch.md describes them, docs/deviations.md the intended differences.
 *
 * A model uses the lists registered at the moment it is opened.
 */

enum {
    GRAFT_TRANSFORM_RENAME = 1,              /* WeightRenaming */
    GRAFT_TRANSFORM_GROUP_RENAME = 2,        /* GroupWeightRename: pairs, active once the first source has matched */
    GRAFT_TRANSFORM_INDEX_OFFSET_RENAME = 3, /* adds `offset` to the number that the pattern's group captures */
    GRAFT_TRANSFORM_PREFIX_CHANGE = 4,       /* PrefixChange: no patterns, but one of the two prefixes */
    GRAFT_TRANSFORM_CONVERTER = 5            /* WeightConverter: at least one operation */
};

/* One element of a list. */
struct graft_weight_transform {
    uint32_t struct_size;
    int32_t kind;                       /* GRAFT_TRANSFORM_... */
    const char *const *source_patterns; /* [n_sources] */
    const char *const *target_patterns; /* [n_targets] */
    int32_t n_sources;
    int32_t n_targets;
    const struct graft_operation *operations; /* [n_operations], of a converter only */
    int32_t n_operations;
    uint32_t operation_stride;
    int64_t offset;               /* index offset rename: added to the index */
    const char *prefix_to_add;    /* prefix change: either this or the next, the other NULL */
    const char *prefix_to_remove; /* prefix change */
    const char *model_prefix;     /* what precedes the prefix; NULL: nothing */
    /* If set, the transform sees only names that begin with it, with or without the base model's prefix in front, and
     * only the part after it. NULL: every name. */
    const char *scope_prefix;
    const char *base_model_prefix; /* "model", for scope_prefix; NULL: none */
    /* If set, the transform applies to each module of that class (before anything replaces it) below the module that
     * the list is for, and sees the part after the module's path. In registered lists only. */
    const char *scope_class;
};

#define GRAFT_WEIGHT_TRANSFORM_SIZE_1_0 GRAFT_END_OF(struct graft_weight_transform, scope_class)

/* Registers a list under a name; it may be empty. If the name has a list, or stands for conversions that classes own,
 * that is GRAFT_ERROR_USAGE, unless `overwrite` is set: then the new list replaces them. Everything is checked and
 * copied, except custom operations, which must stay const and valid as long as the library and its models. */
int graft_library_register_conversions(struct graft_library *library, const char *name,
                                       const struct graft_weight_transform *transforms, size_t n, int overwrite,
                                       struct graft_error *error);

/* Removes the list of a name; the classes' own conversions apply again. A name without a list is GRAFT_ERROR_USAGE. */
int graft_library_unregister_conversions(struct graft_library *library, const char *name, struct graft_error *error);

/* Removes all lists. */
int graft_library_clear_conversions(struct graft_library *library, struct graft_error *error);

/* Copies the transforms that were registered under a name. If there are none, it copies the conversions that classes
 * themselves have for that name, with fusions registered for that model type; registering this copy would change
 * nothing. `*transforms` is NULL if there is neither. The caller frees it with graft_transforms_free; custom operations
 * in it are borrowed. */
int graft_library_conversions(struct graft_library *library, const char *name,
                              struct graft_weight_transform **transforms, size_t *n, struct graft_error *error);

/* Frees the copy. Accepts NULL. */
void graft_transforms_free(struct graft_weight_transform *transforms);

/* The operations of a class's conversion as text, "MergeModulelist(dim=0), Concatenate(dim=1)"; "renamed" for none.
 * Writes at most `size` bytes, NUL included, to `text` and returns the length of the full text, as snprintf does. */
size_t graft_conversion_operations(const struct graft_conversion *conversion, char *text, size_t size);

/* --- Registrations for a single load --- */

/*
 * A load patch: classes, filters and conversions for a single load, which do not change the patch mapping. Two models
 * opened with different load patches can exist side by side, in any threads. docs/patch.md describes the same as a
 * file.
 */

/* Borrowed until graft_model_open returns, except classes and custom operations, which must stay valid as long as the
 * model. */
struct graft_load_patch {
    uint32_t struct_size;
    uint32_t reserved;
    /* [n_classes] These go before the entries of the patch mapping, whether from calls or from plugins. */
    const struct graft_patch *classes;
    size_t n_classes;
    /* [n_without] Regular expressions, searched in sources and targets: a transform of a registered list is left out if
     * one of them matches, a class's conversion if the full name of one of them does
     * ("model.layers.0.mlp.experts.gate_up_proj"). */
    const char *const *without;
    size_t n_without;
    /* [n_conversions] These go in front of the model's registered list. */
    const struct graft_weight_transform *conversions;
    size_t n_conversions;
};

#define GRAFT_LOAD_PATCH_SIZE_1_0 GRAFT_END_OF(struct graft_load_patch, n_conversions)

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conversions for whole models, registered by calls: lists of transforms from the names and tensors of a checkpoint to
 * those of a model. A list is registered under a model type ("qwen2_moe") or the name of a model's class
 * ("Qwen2MoeForCausalLM", which goes before the type). Lists act first: the list renames and converts the checkpoint,
 * and classes look things up in the result. Layouts that the host supports need no list; lists are for those that none
 * of its classes knows.
 *
 * Classes, the host's and those of plugins, also own conversions (graft/conversion.h). While no list is registered
 * under a name, the name stands for these: those of the class, or of all classes of the model type as the patch mapping
 * (graft/host/registry.h) has them now. A list registered over them with `overwrite` replaces them: in models opened
 * from then on, the class of that name, or the classes of that type, convert nothing themselves. Removing the list
 * restores their conversions. A class that a load patch or a fusion brings in uses its own conversions whatever is
 * registered.
 *
 * Transforms mean what they mean in transformers: all renamings are applied to a name in order, then the first
 * converter that matches. Patterns are regular expressions (PCRE2) that match anywhere in the name, and the target
 * replaces the match. docs/patch.md describes them, docs/deviations.md the intended differences.
 *
 * All functions are [any] and may run in several threads at once; a call that fails changes nothing. A model uses the
 * lists registered at the moment it is opened.
 */
#ifndef GRAFT_HOST_CONVERSIONS_H
#define GRAFT_HOST_CONVERSIONS_H

#include <stddef.h>
#include <stdint.h>

#include "graft/conversion.h"
#include "graft/error.h"

#ifdef __cplusplus
extern "C" {
#endif

struct graft_library;

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

/* A copy of the list under a name, as given, or of the conversions that classes own under it, as transforms:
 * registering those changes nothing. Fusions registered for a model type add to what its classes own. `*transforms` is
 * NULL if there is neither. The caller frees it with graft_transforms_free; custom operations in it are borrowed. */
int graft_library_conversions(struct graft_library *library, const char *name,
                              struct graft_weight_transform **transforms, size_t *n, struct graft_error *error);

/* Frees the copy. Accepts NULL. */
void graft_transforms_free(struct graft_weight_transform *transforms);

/* The operations of a class's conversion as text, "MergeModulelist(dim=0), Concatenate(dim=1)"; "renamed" for none.
 * Writes at most `size` bytes, NUL included, to `text` and returns the length of the full text, as snprintf does. */
size_t graft_conversion_operations(const struct graft_conversion *conversion, char *text, size_t size);

#ifdef __cplusplus
}
#endif

#endif

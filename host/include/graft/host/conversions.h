/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conversions of whole models by calls: lists of transforms from the names and tensors of a checkpoint to those of a
 * model, under a model type ("qwen2_moe") or the name of a model's class ("Qwen2MoeForCausalLM"; it goes before the
 * type). They act first: a checkpoint is renamed and converted by the list, and what results is what classes look for.
 * Nothing needs them to load what the host knows by itself; they are for layouts that no class of it knows.
 *
 * Classes own conversions, too (graft/conversion.h), those of the host and those of plugins. They are what a name
 * stands for as long as no list is registered under it: a class's own, or those of all classes of a model type as the
 * mapping (graft/host/registry.h) has it now. A list registered over them, by `overwrite`, takes their place: in models
 * opened from then on a class of that name, or the classes of that type, convert nothing themselves. Without the list
 * they do again. What is brought for one load, by a patch or a fusion, converts for itself whatever is registered.
 *
 * Transforms have the meaning that transformers gives them: all renamings are applied to a name in order, then the
 * first converter that matches; patterns are regular expressions (PCRE2), searched anywhere in the name, and what they
 * match is replaced by the target. docs/patch.md describes them; where they differ on purpose is in docs/deviations.md.
 *
 * All functions are [any] and may run at once in several threads; a call that fails changes nothing. A model opened
 * works on the lists as they are at that moment.
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
    GRAFT_TRANSFORM_GROUP_RENAME = 2,        /* GroupWeightRename: pairs, in force once the first source was met */
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
    int64_t offset;               /* of an index offset rename */
    const char *prefix_to_add;    /* of a prefix change: this or the next, and the other NULL */
    const char *prefix_to_remove; /* of a prefix change */
    const char *model_prefix;     /* what the prefix stands behind; NULL: nothing */
    /* Where set, the transform sees only names that begin with it, or with the base model's prefix and it, and of those
     * only what is behind it. NULL: every name. */
    const char *scope_prefix;
    const char *base_model_prefix; /* "model", for scope_prefix; NULL: none */
    /* Where set, the transform is for each module of that class (before anything replaces it) below the module that the
     * list is for, and sees what is behind the module's path. In registered lists only. */
    const char *scope_class;
};

/* Registers a list under a name; an empty one is a list, too. A name that has one, or stands for conversions that
 * classes own, is GRAFT_ERROR_USAGE, or with `overwrite` gets the new list. Everything is checked and copied (but for
 * custom operations, which stay const and valid as long as the library and its models). */
int graft_library_register_conversions(struct graft_library *library, const char *name,
                                       const struct graft_weight_transform *transforms, size_t n, int overwrite,
                                       struct graft_error *error);

/* Removes the list of a name: what classes own holds again. That the name has none is GRAFT_ERROR_USAGE. */
int graft_library_unregister_conversions(struct graft_library *library, const char *name, struct graft_error *error);

/* Removes all lists. */
int graft_library_clear_conversions(struct graft_library *library, struct graft_error *error);

/* A copy of the list under a name, as it was given, or of what classes own under it, as transforms: registering that
 * changes nothing. Fusions registered for a model type add to what its classes own. `*transforms` is NULL when there is
 * neither. The caller frees it with graft_transforms_free; custom operations in it are borrowed. */
int graft_library_conversions(struct graft_library *library, const char *name,
                              struct graft_weight_transform **transforms, size_t *n, struct graft_error *error);

/* Frees the copy. Takes NULL. */
void graft_transforms_free(struct graft_weight_transform *transforms);

/* The operations of a class's conversion as text, "MergeModulelist(dim=0), Concatenate(dim=1)"; "renamed" for none.
 * Writes at most `size` bytes with the NUL into `text` and returns how long the text is, as snprintf does. */
size_t graft_conversion_operations(const struct graft_conversion *conversion, char *text, size_t size);

#ifdef __cplusplus
}
#endif

#endif

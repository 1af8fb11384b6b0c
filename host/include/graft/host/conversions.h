/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conversions of whole models by calls: lists of transforms from the names and tensors of a checkpoint to those of a
 * model, under a model type ("qwen2_moe") or the name of a model's class ("Qwen2MoeForCausalLM"; it goes before the
 * type). They hold besides the conversions that classes own (graft/conversion.h), and act first: a checkpoint is
 * renamed and converted by the list, and what results is what classes look for. Nothing needs them to load what the
 * host knows by itself; they are for layouts that no class of it knows.
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
    int32_t kind; /* GRAFT_TRANSFORM_... */
    const char *const *source_patterns;
    const char *const *target_patterns;
    int32_t n_sources;
    int32_t n_targets;
    const struct graft_operation *operations;
    int32_t n_operations;
    uint32_t operation_stride;
    int64_t offset;
    const char *prefix_to_add; /* of a prefix change: exactly one of these two */
    const char *prefix_to_remove;
    const char *model_prefix; /* what the prefix stands behind; NULL: nothing */
    /* Where set, the transform sees only names that begin with it, or with the base model's prefix and it, and of those
     * only what is behind it. */
    const char *scope_prefix;
    const char *base_model_prefix;
};

/* Registers a list under a name; an empty one is a list, too. A name that has one is an error, or with `overwrite` gets
 * the new list. Everything is checked and copied (but for custom operations, which stay const and valid as long as the
 * library and its models). */
int graft_library_register_conversions(struct graft_library *library, const char *name,
                                       const struct graft_weight_transform *transforms, size_t n, int overwrite,
                                       struct graft_error *error);

/* A copy of the list under a name, as it was given; changing it changes nothing else. `*transforms` is NULL when there
 * is none. The caller frees it with graft_transforms_free. */
int graft_library_conversions(struct graft_library *library, const char *name,
                              struct graft_weight_transform **transforms, size_t *n, struct graft_error *error);
void graft_transforms_free(struct graft_weight_transform *transforms);

/* The operations of a class's conversion as text, "MergeModulelist(dim=0), Concatenate(dim=1)"; "renamed" for none.
 * Writes at most `size` bytes with the NUL into `text` and returns how long the text is, as snprintf does. */
size_t graft_conversion_operations(const struct graft_conversion *conversion, char *text, size_t size);

#ifdef __cplusplus
}
#endif

#endif

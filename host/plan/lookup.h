/* SPDX-License-Identifier: Apache-2.0 */
/* Finds a checkpoint's tensors by the names that a tree expects. Used in this folder only. */
#ifndef GRAFT_PLAN_LOOKUP_H
#define GRAFT_PLAN_LOOKUP_H

#include "base/regex.h"
#include "names/name.h"
#include "plan/gather.h"
#include "plan/renaming.h"

/* Patterns that select conversions to leave out, by the names of their sources and targets. */
struct conversion_filter {
    struct graft_regex **patterns;
    char **texts;  /* the patterns' texts */
    int32_t *used; /* whether each pattern matched something */
    size_t n;
};

struct graft_plan;
struct lookup {
    struct graft_sources *sources;
    const char *prefix; /* base_model_prefix, or "" */
    struct renamings renamings;
    const struct conversion_filter *without; /* NULL: no conversion is left out */
    const struct graft_tree *tree;           /* for looking up tied names */
    struct graft_plan *plan;                 /* for absent tensors of lists; NULL: they are not looked up */
    const struct graft_adapters *adapters;   /* adapters, whose tensors have names of another form; NULL: none */
};

/* Whether a pattern occurs in the full name of a source or target. Marks the patterns that do as used. */
int graft_conversion_filter_hits(const struct conversion_filter *filter, const char *name);

/* Whether the filter leaves out a class's conversion at a module. */
int graft_lookup_leaves_out(const struct lookup *lookup, const struct graft_node *node,
                            const struct graft_conversion *conversion);

/* The source called `name`, directly, or with the base model's prefix added or removed, or with modules renamed; NULL
 * if there is none. `*renaming` becomes the renaming that applied, or NULL. */
struct graft_source *graft_lookup_find(const struct lookup *lookup, const char *name,
                                       const struct graft_conversion **renaming);

/* Whether a tensor called `name`, in any of those ways, is in a missing file. */
int graft_lookup_is_absent(const struct lookup *lookup, const struct graft_checkpoint *checkpoint, const char *name);

/* Sets an error if that tensor is in a missing file; the error names both. */
int graft_lookup_need_present(const struct lookup *lookup, const struct graft_checkpoint *checkpoint, const char *name,
                              struct graft_error *error);

/* Whether a tensor called `name` belongs to the module at `path` or to one below it, with prefixes and renamings as in
 * graft_lookup_find. */
int graft_lookup_is_below(const struct lookup *lookup, const char *path, const char *name);

/* The path that a checkpoint may use for the module at `path`, in way number `way`. Returns 0 if there is no such
 * way. */
enum { GRAFT_LOOKUP_WAYS = 6 };
int graft_lookup_spell(const struct lookup *lookup, const char *path, int way, char spelled[GRAFT_NAME_BYTES]);

/* Like graft_lookup_find, for a name that may have a `*`: gathers the tensors of every index, in the first spelling
 * that has any. */
int graft_lookup_gather(const struct lookup *lookup, const char *name, struct gathered *gathered,
                        struct graft_error *error);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Finding a checkpoint's tensors under the names a tree expects. Shared by the units of this folder only. */
#ifndef GRAFT_PLAN_LOOKUP_H
#define GRAFT_PLAN_LOOKUP_H

#include "base/regex.h"
#include "names/name.h"
#include "plan/gather.h"
#include "plan/renaming.h"

/* Patterns of the conversions that are left out, by their sources and targets. */
struct conversion_filter {
    struct graft_regex **patterns;
    char **texts;  /* as they were given */
    int32_t *used; /* whether one hit something */
    size_t n;
};

struct graft_plan;
struct lookup {
    struct graft_sources *sources;
    const char *prefix; /* base_model_prefix, or "" */
    struct renamings renamings;
    const struct conversion_filter *without; /* NULL: nothing is left out */
    const struct graft_tree *tree;           /* for names that are tied to a parameter */
    struct graft_plan *plan;                 /* for what lists have in files that are not there; NULL: not asked for */
    const struct graft_adapters *adapters;   /* whose tensors have names of their own kind; NULL: none */
};

/* Whether one of the patterns is found in a source's or target's full name. Marks those that are. */
int graft_conversion_filter_hits(const struct conversion_filter *filter, const char *name);

/* Whether a class's conversion at a module is left out. */
int graft_lookup_leaves_out(const struct lookup *lookup, const struct graft_node *node,
                            const struct graft_conversion *conversion);

/* The source called `name`, or called so with the base model's prefix added or taken away, or with modules renamed;
 * NULL if there is none. `*renaming` becomes the renaming that led to it, or NULL. */
struct graft_source *graft_lookup_find(const struct lookup *lookup, const char *name,
                                       const struct graft_conversion **renaming);

/* Whether a tensor called `name`, or called so in another of those ways, is in a file that is not there. */
int graft_lookup_is_absent(const struct lookup *lookup, const struct graft_checkpoint *checkpoint, const char *name);

/* That error where it is: of the file, and the tensor as it is called there. */
int graft_lookup_need_present(const struct lookup *lookup, const struct graft_checkpoint *checkpoint, const char *name,
                              struct graft_error *error);

/* Whether a tensor called `name` is one of the module at `path`, or of those below it: by prefixes and renamings as for
 * graft_lookup_find. */
int graft_lookup_is_below(const struct lookup *lookup, const char *path, const char *name);

/* What the module at `path` may be called in a checkpoint: way number `way`. 0 where there is no such way. */
enum { GRAFT_LOOKUP_WAYS = 6 };
int graft_lookup_spell(const struct lookup *lookup, const char *path, int way, char spelled[GRAFT_NAME_BYTES]);

/* As graft_lookup_find for a name that may have a `*`: adds the tensors of every index, in the first spelling that has
 * any. */
int graft_lookup_gather(const struct lookup *lookup, const char *name, struct gathered *gathered,
                        struct graft_error *error);

#endif

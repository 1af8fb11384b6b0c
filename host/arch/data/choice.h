/* SPDX-License-Identifier: Apache-2.0 */
/* Private: the allowed values of a choice, and what a description stores for it. */
#ifndef GRAFT_ARCH_DATA_CHOICE_H
#define GRAFT_ARCH_DATA_CHOICE_H

#include "arch/data/description.h"
#include "arch/data/expression_node.h"

struct graft_choice_entry {
    char *name;                          /* for GRAFT_CHOICE_NAME; NULL: null */
    struct graft_expression *expression; /* for all other kinds */
};

struct graft_default {
    char *path;
    struct graft_value value; /* its text is in the block of `path` */
};

struct graft_description {
    const struct graft_choices *choices;
    struct graft_default *defaults; /* [n_defaults] */
    size_t n_defaults;
    char *section;                     /* NULL: none */
    struct graft_description *encoder; /* NULL: none */
    struct graft_choice_entry entries[];
};

/* [any] What a choice expects: "an integer", '"rms" or "layer"'. */
void graft_choice_expects(const struct graft_choice_info *info, struct graft_label *expected);

/* [any] Whether a value other than null is not allowed, and why: "expected 1 to 8, got 0". A real without a fraction
 * counts as an integer if it was computed, but not if it is a file's own value (`is_own`), as in graft_config_int. */
int graft_choice_fault(const struct graft_choice_info *info, const struct graft_value *value, int is_own,
                       struct graft_label *fault);

/* [load] The default that a description has for a field; NULL: none. A `fallback` of struct graft_config_section. */
const struct graft_value *graft_defaults_find(const void *description, const char *path);

/* [load] Copies one description's defaults into another, which must have none yet. */
int graft_defaults_copy(const struct graft_description *from, struct graft_description *to, struct graft_error *error);
void graft_defaults_free(struct graft_description *description);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of the public handles, for the library itself and the program's reports. */
#ifndef GRAFT_LIBRARY_LIBRARY_H
#define GRAFT_LIBRARY_LIBRARY_H

#include "arch/arch.h"
#include "bind/bind.h"
#include "generate/generate.h"
#include "graft/graft.h"
#include "plugin/plugin.h"
#include "registry/registry.h"

struct graft_library {
    struct graft_registry *registry;
    struct graft_plugin_set *plugins; /* NULL until loaded */
};

struct graft_model {
    char *directory;
    int32_t precision;
    int32_t without_weights;
    struct graft_model_config *config;
    const struct graft_family *family;
    struct graft_checkpoint *checkpoint;
    struct graft_tree *tree;
    struct graft_plan *plan;
    struct graft_bound *bound;       /* NULL until loaded */
    const struct graft_module *head; /* of interface graft.causal_lm/1; NULL until loaded, and with `unset` */
    const char *unset;               /* without weights: the first parameter that has no initial value; or NULL */
    int64_t vocab_size;
    struct graft_generation_settings generation;
    char **notes; /* one line each */
    size_t n_notes;
    size_t notes_capacity;
    double open_seconds;
    double load_seconds;
};

/* [any] The family of a model type, or NULL. */
const struct graft_family *graft_family_find(const char *model_type);

/* [load] Collects the remarks on a planned model: replacements that do nothing here, oddities of the checkpoint. */
int graft_model_collect_notes(struct graft_model *model, struct graft_error *error);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Saving a bound model. */
#ifndef GRAFT_SAVE_SAVE_H
#define GRAFT_SAVE_SAVE_H

#include "base/json.h"
#include "graft/host/model.h"
#include "model/tree.h"
#include "plan/plan.h"

/* Members of config.json that change in the saved copy. */
struct graft_config_changes {
    struct graft_config_change {
        const char *key;         /* a member of the document */
        const graft_json *value; /* NULL: it is left out */
    } items[3];
    size_t n;
    int is_dequantized; /* 1: files that describe how the weights were quantized are not copied */
};

/* [load] graft_model_save for a plan whose parameters are bound; `tree` is the plan's. `changes` holds the changes that
 * options ask for; NULL: config.json is copied unchanged. */
int graft_save(const char *directory, struct graft_tree *tree, const struct graft_plan *plan,
               const struct graft_config_changes *changes, const char *output, const struct graft_save_options *options,
               struct graft_error *error);

/* [load] Whether the model can be saved: graft_plan_check, except that parameters may be missing that a patch of this
 * load removed, or that the directory's layout lacks according to its journal. */
int graft_save_check(const char *directory, struct graft_tree *tree, const struct graft_plan *plan,
                     struct graft_error *error);

/* [load] Lists in a journal the parameters for which a plan has no tensor. */
struct journal;
int graft_journal_add_lacking(struct journal *journal, const struct graft_plan *plan, struct graft_error *error);

/* [load] Calls `add` with a note for each plugin option whose value differs from the one with which the directory was
 * saved in the runtime layout. `add` owns the note; NULL means that memory ran out. */
typedef int (*graft_save_add)(void *data, char *note_take, struct graft_error *error);
int graft_save_option_notes(const char *directory, const struct graft_tree *tree, graft_save_add add, void *data,
                            struct graft_error *error);

/* [any] Refuses what graft_save would refuse and what is known before anything is bound: an output that cannot be
 * written, or a custom operation that cannot be undone for the original layout. */
int graft_save_check_target(const char *directory, const struct graft_plan *plan, const char *output,
                            const struct graft_save_options *options, struct graft_error *error);

/* [any] Whether a directory has a journal, so that its tensors are parameters of the runtime layout. A journal that
 * cannot be read is reported where it is needed. */
int graft_save_is_runtime_layout(const char *directory);

/* [any] The first custom operation of a plan that cannot be undone; NULL if there is none. */
const struct graft_computed *graft_save_irreversible(const struct graft_plan *plan);

/* [any] Call this when a model's parameters do not fit. If the directory is in the runtime layout of plugins that are
 * not active, or its layout lacks the parameter at fault (NULL: none), `error` gets a hint that says what to do. */
void graft_save_hint(const char *directory, struct graft_tree *tree, const struct graft_binding *fault,
                     struct graft_error *error);

#endif

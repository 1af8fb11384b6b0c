/* SPDX-License-Identifier: Apache-2.0 */
/* Saving a bound model. */
#ifndef GRAFT_SAVE_SAVE_H
#define GRAFT_SAVE_SAVE_H

#include "base/json.h"
#include "graft/host/model.h"
#include "model/tree.h"
#include "plan/plan.h"

/* What of config.json is to be another in what is saved. */
struct graft_config_changes {
    struct graft_config_change {
        const char *key;         /* a member of the document */
        const graft_json *value; /* NULL: it is left out */
    } items[2];
    size_t n;
    int is_dequantized; /* files that say how weights were quantized are left behind */
};

/* [load] graft_model_save for a plan whose parameters are bound; `tree` is the plan's. `changes` is what options asked
 * for; NULL: config.json stays as it is. */
int graft_save(const char *directory, struct graft_tree *tree, const struct graft_plan *plan,
               const struct graft_config_changes *changes, const char *output, const struct graft_save_options *options,
               struct graft_error *error);

/* [load] Whether the model can be saved: graft_plan_check, but that parameters may be missing which a patch of this
 * load took away, or which the directory's journal says that its layout has not. */
int graft_save_check(const char *directory, struct graft_tree *tree, const struct graft_plan *plan,
                     struct graft_error *error);

/* [load] Notes in a journal which parameters a plan has nothing for. */
struct journal;
int graft_journal_add_lacking(struct journal *journal, const struct graft_plan *plan, struct graft_error *error);

/* [load] Gives a note to `add`, which owns it from then on (NULL: memory ran out), for each option that has another
 * value than when the directory was saved in the runtime layout. */
typedef int (*graft_save_add)(void *data, char *note_take, struct graft_error *error);
int graft_save_option_notes(const char *directory, const struct graft_tree *tree, graft_save_add add, void *data,
                            struct graft_error *error);

/* [any] What graft_save refuses and can be known before anything is bound: an output that cannot be, a custom operation
 * that the original layout has no way back from. */
int graft_save_check_target(const char *directory, const struct graft_plan *plan, const char *output,
                            const struct graft_save_options *options, struct graft_error *error);

/* [any] Whether a directory has a journal: its tensors are then parameters as they were when it was saved. One that
 * cannot be read is reported by who needs it. */
int graft_save_is_runtime_layout(const char *directory);

/* [any] The first custom operation of a plan that cannot be undone; NULL if there is none. */
const struct graft_computed *graft_save_irreversible(const struct graft_plan *plan);

/* [any] To be called when a model's parameters do not fit: if its directory is in the runtime layout of plugins that
 * are not active, or in one without the parameter at fault (NULL: none), `error` gets the hint what to do. */
void graft_save_hint(const char *directory, struct graft_tree *tree, const struct graft_binding *fault,
                     struct graft_error *error);

#endif

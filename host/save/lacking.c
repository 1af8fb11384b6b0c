/* SPDX-License-Identifier: Apache-2.0 */
/* Layouts that lack tensors for some parameters. They are saved all the same, as nothing of the checkpoint is lost. */
#include "base/fail.h"
#include "save/journal.h"
#include "save/save.h"

struct lacking {
    const struct graft_plan *plan;
    const struct journal *journal;
};

static int may_lack(void *data, const char *name) {
    const struct lacking *lacking = data;
    return lacking->plan->layout_patched || graft_journal_is_absent(lacking->journal, name);
}

int graft_save_check(const char *directory, struct graft_tree *tree, const struct graft_plan *plan,
                     struct graft_error *error) {
    struct journal journal;
    int status = graft_journal_read(directory, &journal, error);
    if (status != GRAFT_OK) {
        return status;
    }
    struct lacking lacking = {plan, &journal};
    status = graft_plan_check_but(plan, may_lack, &lacking, error);
    if (status != GRAFT_OK) {
        graft_save_hint(directory, tree, graft_plan_fault(plan, may_lack, &lacking), error);
    }
    graft_journal_finish(&journal);
    return status;
}

int graft_journal_add_lacking(struct journal *journal, const struct graft_plan *plan, struct graft_error *error) {
    for (size_t i = 0; i < plan->n_bindings; i++) {
        const struct graft_binding *binding = &plan->bindings[i];
        if (binding->status == GRAFT_BINDING_MISSING &&
            graft_journal_add_absent(journal, binding->parameter->name) != 0) {
            return graft_fail_memory(error, binding->parameter->name);
        }
    }
    return GRAFT_OK;
}

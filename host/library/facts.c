/* SPDX-License-Identifier: Apache-2.0 */
#include "library/facts.h"

#include "save/save.h"

static const struct graft_tensor_view *tensor(const void *data, const char *path, const char *name) {
    return graft_presence_find(data, path, name);
}

static int is_absent(const void *data, const char *path, const char *name) {
    return graft_presence_is_absent(data, path, name);
}

static int has_below(const void *data, const char *path) {
    return graft_presence_has_below(data, path);
}

static int may_have(const void *data, const char *name) {
    return graft_presence_may_have(data, name);
}

/* Finds the checkpoint's tensors of each module, in the plain tree: names in checkpoints do not depend on replacements.
 */
static int find_tensors(const struct graft_model *model, const struct graft_tree_options *options,
                        const struct graft_load_patch *patch, struct model_facts *facts, struct graft_error *error) {
    struct graft_tree_options plain = *options;
    plain.without_replacements = 1;
    int status = graft_tree_build(&plain, &facts->plain, error);
    if (status == GRAFT_OK) {
        status = graft_model_lists_make(facts->plain, patch, model->family.family, &facts->lists, error);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    const struct graft_plan_options wanted = {
        .base_model_prefix = graft_family_prefix(model->family.family),
        .transforms = &facts->lists.transforms,
        .n_forced = facts->lists.n_forced,
        .adapters = &model->adapters,
    };
    status = graft_presence_make(facts->plain, model->checkpoint, &wanted, &facts->presence, error);
    if (status == GRAFT_OK) {
        facts->facts.tensor = tensor;
        facts->facts.is_absent = is_absent;
        facts->facts.has_below = has_below;
        facts->facts.may_have = may_have;
        facts->facts.data = facts->presence;
    }
    return status;
}

int graft_model_facts_make(const struct graft_model *model, const struct graft_tree_options *options,
                           const struct graft_load_patch *patch, struct model_facts *facts, struct graft_error *error) {
    *facts = (struct model_facts){.facts = {.config = &model->config->view}};
    /* In the runtime layout, classes have parameters that other classes may join. */
    return graft_snapshot_asks_for_tensors(options->snapshot, model->config->model_type, &facts->facts) ||
                   graft_save_is_runtime_layout(model->directory)
               ? find_tensors(model, options, patch, facts, error)
               : GRAFT_OK;
}

void graft_model_facts_finish(struct model_facts *facts) {
    graft_presence_free(facts->presence);
    graft_model_lists_finish(&facts->lists);
    graft_tree_free(facts->plain);
    *facts = (struct model_facts){0};
}

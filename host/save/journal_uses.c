/* SPDX-License-Identifier: Apache-2.0 */
/* The journal's uses of custom operations that can be undone. */
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "registry/operations.h"
#include "save/journal.h"

void graft_journal_uses_free(struct journal_use *uses, size_t n) {
    for (size_t i = 0; i < n; i++) {
        for (int32_t k = 0; k < uses[i].n_inputs; k++) {
            graft_free(uses[i].origins[k].parts);
        }
        graft_free(uses[i].inputs);
        graft_free(uses[i].origins);
        graft_free(uses[i].outputs);
    }
    graft_free(uses);
}

struct journal_use *graft_journal_add_use(struct journal *journal, int32_t n_inputs, int32_t n_outputs) {
    if (graft_grow(&journal->uses, &journal->use_capacity, journal->n_uses, sizeof *journal->uses) != 0) {
        return NULL;
    }
    struct journal_use *use = &journal->uses[journal->n_uses++];
    *use = (struct journal_use){
        .inputs = graft_alloc((size_t)n_inputs, sizeof *use->inputs),
        .origins = graft_alloc((size_t)n_inputs, sizeof *use->origins),
        .outputs = graft_alloc((size_t)n_outputs, sizeof *use->outputs),
        .n_outputs = n_outputs,
        .first = journal->n_tensors,
    };
    use->n_inputs = use->origins != NULL ? n_inputs : 0;
    return use->inputs != NULL && use->origins != NULL && use->outputs != NULL ? use : NULL;
}

struct graft_plugin_call graft_journal_use_task(const struct journal_use *use, const char *function) {
    const int is_host = strcmp(use->plugin, "(none)") == 0;
    return (struct graft_plugin_call){function, SAVE_JOURNAL_FILE, use->name, is_host ? NULL : use->plugin, NULL};
}

/* Returns 0, or -1 if memory ran out. */
static int add_computed(struct journal *journal, const struct graft_computed *computed) {
    struct journal_use *use = graft_journal_add_use(journal, computed->n_inputs, computed->n_outputs);
    if (use == NULL) {
        return -1;
    }
    use->operation = computed->operation;
    use->name = computed->operation->name;
    use->plugin = computed->plugin != NULL ? computed->plugin : "(none)";
    for (int32_t k = 0; k < computed->n_inputs; k++) {
        use->inputs[k] = computed->input_infos[k];
        if (graft_journal_compose(journal, &computed->inputs[k], &use->origins[k]) != 0) {
            return -1;
        }
    }
    for (int32_t k = 0; k < computed->n_outputs; k++) {
        struct journal_tensor form = graft_journal_tensor_of(&computed->outputs[k]);
        form.made = 1;
        use->outputs[k] = computed->output_infos[k];
        if (graft_journal_add_tensor(journal, &form) != 0) {
            return -1;
        }
    }
    use->computed = computed; /* from here on graft_journal_find_output finds its outputs */
    return 0;
}

int graft_journal_add_uses(struct journal *journal, const struct graft_plan *plan, struct graft_error *error) {
    for (size_t i = 0; i < plan->n_computed; i++) {
        if (plan->computed[i]->operation->reverse != NULL && add_computed(journal, plan->computed[i]) != 0) {
            return graft_fail_memory(error, plan->computed[i]->place);
        }
    }
    return GRAFT_OK;
}

size_t graft_journal_find_output(const struct journal *journal, const struct graft_tensor_view *view) {
    for (size_t i = journal->n_uses; i > 0; i--) {
        const struct journal_use *use = &journal->uses[i - 1];
        if (use->computed != NULL && use->computed == view->computed) {
            return use->first + (size_t)(view - use->computed->outputs);
        }
    }
    return SIZE_MAX;
}

static void look_in(const struct graft_class *cls, struct journal_use *use) {
    for (int32_t i = 0; i < cls->n_conversions && use->operation == NULL; i++) {
        const struct graft_conversion *conversion =
            (const void *)((const char *)cls->conversions + (size_t)i * cls->conversion_stride);
        for (int32_t k = 0; k < conversion->n_operations && use->operation == NULL; k++) {
            const struct graft_operation *operation =
                (const void *)((const char *)conversion->operations + (size_t)k * conversion->operation_stride);
            if (operation->kind == GRAFT_OP_CUSTOM && strcmp(operation->custom->name, use->name) == 0) {
                use->operation = operation->custom;
            }
        }
    }
}

static int look_at_node(void *data, struct graft_node *node, struct graft_error *error) {
    struct journal_use *use = data;
    const struct graft_known_class *known = node->described_by;
    (void)error;
    if (known != NULL && use->operation == NULL &&
        strcmp(known->origin.plugin != NULL ? known->origin.plugin : "(none)", use->plugin) == 0) {
        look_in(known->cls, use);
    }
    return GRAFT_OK;
}

static int same_info(const struct graft_value_info *a, const struct graft_value_info *b) {
    int same = a->dtype == b->dtype && a->rank == b->rank;
    for (int32_t i = 0; i < a->rank && same; i++) {
        same = a->shape[i] == b->shape[i];
    }
    return same;
}

/* Checks that the operation infers the outputs listed from the inputs listed. */
static int check_outputs(const struct journal_use *use, struct graft_error *error) {
    struct graft_error refusal = graft_error_none();
    struct graft_value_info *outputs = graft_alloc((size_t)use->n_outputs, sizeof *outputs);
    if (outputs == NULL) {
        return graft_fail_memory(error, SAVE_JOURNAL_FILE);
    }
    for (int32_t k = 0; k < use->n_outputs; k++) {
        outputs[k].struct_size = sizeof outputs[k];
    }
    int rows = (use->operation->flags & GRAFT_CUSTOM_ROWS) != 0;
    const struct graft_custom_shapes shapes = {
        .struct_size = sizeof shapes,
        .n_inputs = use->n_inputs,
        .n_outputs = use->n_outputs,
        .info_stride = sizeof *outputs,
        .inputs = use->inputs,
        .outputs = outputs,
    };
    const struct graft_plugin_call task = graft_journal_use_task(use, "infer");
    const struct graft_crash_context before = graft_crash_context_begin(&task);
    int fits = use->operation->infer(use->operation, &shapes, &refusal) == GRAFT_OK;
    graft_crash_context_end(before);
    for (int32_t k = 0; k < use->n_outputs && fits; k++) {
        fits = same_info(&outputs[k], &use->outputs[k]) && (!rows || outputs[k].shape[0] == use->inputs[0].shape[0]);
    }
    for (int32_t k = 1; k < use->n_inputs && fits; k++) {
        fits = !rows || use->inputs[k].shape[0] == use->inputs[0].shape[0];
    }
    graft_free(outputs);
    return fits ? GRAFT_OK
                : graft_error_set(error, GRAFT_ERROR_MODEL, SAVE_JOURNAL_FILE,
                                  "operations: the entry for %s of plugin %s does not match what that operation makes",
                                  use->name, use->plugin);
}

int graft_journal_find_operations(struct journal *journal, struct graft_tree *tree, struct graft_error *error) {
    const struct journal_use *before = NULL; /* the previous use, which usually has the same operation */
    for (size_t i = 0; i < journal->n_uses; i++) {
        struct journal_use *use = &journal->uses[i];
        if (use->computed != NULL) {
            continue;
        }
        if (before != NULL && strcmp(before->name, use->name) == 0 && strcmp(before->plugin, use->plugin) == 0) {
            use->operation = before->operation;
        } else {
            use->operation = graft_snapshot_operation(tree->snapshot, use->plugin, use->name);
        }
        if (use->operation == NULL) {
            (void)graft_tree_walk(tree, look_at_node, use, NULL);
        }
        if (use->operation == NULL || use->operation->reverse == NULL) {
            return graft_error_set(error, GRAFT_ERROR_PLUGIN, SAVE_JOURNAL_FILE,
                                   "the operation %s of plugin %s is needed to undo it and is missing: load the model "
                                   "with that plugin",
                                   use->name, use->plugin);
        }
        int status = check_outputs(use, error);
        if (status != GRAFT_OK) {
            return status;
        }
        before = use;
    }
    return GRAFT_OK;
}

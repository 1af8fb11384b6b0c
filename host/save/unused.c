/* SPDX-License-Identifier: Apache-2.0 */
/* Adds tensors that no parameter uses to the runtime layout, unchanged or as a patch converted them. */
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "plan/sources.h"
#include "save/reverse.h"

/* Marks the stored tensors that a value comes from. */
static void mark_used(const struct graft_plan *plan, const struct graft_value *value, unsigned char *used) {
    for (size_t j = 0; j < value->n_parts; j++) {
        const struct graft_computed *computed = value->parts[j].tensor->computed;
        if (computed == NULL) {
            used[graft_checkpoint_lower_bound(plan->checkpoint, value->parts[j].tensor->name)] = 1;
        }
        for (int32_t k = 0; computed != NULL && k < computed->n_inputs; k++) {
            mark_used(plan, &computed->inputs[k], used);
        }
    }
}

/* Adds a tensor with its name in this layout; its value comes from mapped and computed tensors. */
static int add_source(const struct graft_plan *plan, const struct journal *stored, struct save_content *content,
                      const struct graft_source *source, const struct graft_value *value, struct journal *journal,
                      struct graft_error *error) {
    struct journal_tensor form = graft_journal_tensor_of(source->view);
    int failed = graft_content_add_tensor(content, &form) != 0;
    for (size_t i = 0; i < value->n_parts && !failed; i++) {
        struct save_part part = {graft_content_source(content, plan, value->parts[i].tensor), value->parts[i].box};
        failed = graft_content_add_part(&content->tensors[content->n_tensors - 1], &part) != 0;
    }
    failed = failed || graft_journal_add_origin(journal, stored, form.name, value, form.count) != 0;
    return failed ? graft_fail_memory(error, source->view->name) : GRAFT_OK;
}

/* Adds a whole mapped tensor. */
static int add_mapped(const struct graft_plan *plan, const struct journal *stored, struct save_content *content,
                      const struct graft_source *source, struct journal *journal, struct graft_error *error) {
    int64_t count = graft_journal_tensor_of(source->stored).count;
    struct graft_part all = {source->stored, graft_box_run(0, 0, count)};
    const struct graft_value value = {.parts = &all, .n_parts = count > 0};
    return add_source(plan, stored, content, source, &value, journal, error);
}

int graft_content_add_unused(const struct graft_plan *plan, const struct journal *stored, struct save_content *content,
                             struct journal *journal, struct graft_error *error) {
    unsigned char *used = graft_alloc(graft_checkpoint_count(plan->checkpoint), 1);
    int status = used != NULL ? GRAFT_OK : graft_fail_memory(error, "");
    for (size_t i = 0; i < content->n_parameters && status == GRAFT_OK; i++) {
        mark_used(plan, &content->bindings[i]->value, used);
    }
    for (size_t i = 0; i < plan->sources->n && status == GRAFT_OK; i++) {
        const struct graft_source *source = &plan->sources->items[i];
        if (source->stored == NULL && !source->used) {
            status = add_source(plan, stored, content, source, &source->value, journal, error);
        } else if (source->stored != NULL &&
                   !used[graft_checkpoint_lower_bound(plan->checkpoint, source->stored->name)]) {
            status = add_mapped(plan, stored, content, source, journal, error);
        }
    }
    graft_free(used);
    return status;
}

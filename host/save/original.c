/* SPDX-License-Identifier: Apache-2.0 */
/* The original layout: runs the load's journal backwards. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "save/reverse.h"
#include "save/undo.h"

/* Claims the original elements that the parameters hold, and those that undoing custom operations gives. */
static int claim_parameters(const struct journal *stored, const struct claims *mapped, struct save_content *content,
                            struct claims *claims) {
    for (size_t i = 0; i < content->n_parameters; i++) {
        struct journal now = {0};
        int failed = graft_journal_add_entry(&now, "") != 0 ||
                     graft_journal_compose(stored, &content->bindings[i]->value, &now.entries[0]) != 0 ||
                     graft_claims_add(claims, &now.entries[0], &content->parameters[i]) != 0;
        graft_journal_finish(&now);
        if (failed) {
            return -1;
        }
    }
    return graft_claims_undo(stored, mapped, content, claims);
}

static int claim_stored(const struct graft_plan *plan, const struct journal *stored, const struct save_content *content,
                        struct claims *claims) {
    for (size_t i = 0; i < graft_checkpoint_count(plan->checkpoint); i++) {
        const struct journal_entry *entry = graft_journal_find(stored, content->stored[i].view->name);
        if (entry != NULL && graft_claims_add(claims, entry, &content->stored[i]) != 0) {
            return -1;
        }
    }
    graft_claims_sort(claims);
    return 0;
}

/* Orders tensors by the parameter that holds their first element, and by the place in it; mapped and empty tensors come
 * last, by name. */
static int compare_order(const void *left, const void *right) {
    const struct save_tensor *const sides[] = {left, right};
    const struct save_part none = {0};
    const struct save_part *parts[2];
    int last[2];
    for (int i = 0; i < 2; i++) {
        parts[i] = sides[i]->n_parts > 0 ? sides[i]->parts : &none;
        last[i] = parts[i]->source == NULL || parts[i]->source->order == SIZE_MAX;
    }
    if (last[0] || last[1]) {
        return last[0] != last[1] ? last[0] - last[1] : strcmp(sides[0]->form.name, sides[1]->form.name);
    }
    if (parts[0]->source->order != parts[1]->source->order) {
        return parts[0]->source->order < parts[1]->source->order ? -1 : 1;
    }
    int order = (parts[0]->box.begin > parts[1]->box.begin) - (parts[0]->box.begin < parts[1]->box.begin);
    return order != 0 ? order : strcmp(sides[0]->form.name, sides[1]->form.name);
}

static int fill_tensors(const struct journal *stored, const struct claims *parameters, const struct claims *mapped,
                        struct save_content *content, struct graft_error *error) {
    for (size_t i = 0; i < stored->n_tensors; i++) {
        const struct journal_tensor *form = &stored->tensors[i];
        if (form->made) {
            continue;
        }
        if (form->lost != NULL) {
            return graft_error_set(
                error, GRAFT_ERROR_PLUGIN, form->name,
                "the operation %s, whose result this directory holds, cannot be undone: there is no way "
                "back to the original layout",
                form->lost);
        }
        if (graft_content_add_tensor(content, form) != 0) {
            return graft_fail_memory(error, form->name);
        }
        int result = graft_claims_fill(parameters, mapped, i, &content->tensors[content->n_tensors - 1]);
        if (result != 0) {
            return result < 0 ? graft_fail_memory(error, form->name)
                              : graft_error_set(error, GRAFT_ERROR_MODEL, form->name,
                                                SAVE_JOURNAL_FILE " does not say where all of this tensor is");
        }
    }
    if (content->n_tensors > 0) {
        qsort(content->tensors, content->n_tensors, sizeof *content->tensors, compare_order);
    }
    return GRAFT_OK;
}

int graft_save_content_original(const struct graft_plan *plan, const struct journal *stored,
                                struct save_content *content, struct graft_error *error) {
    struct claims parameters = {0}, mapped = {0};
    int status = graft_content_init(plan, content, error);
    if (status != GRAFT_OK) {
        return status;
    }
    if (claim_stored(plan, stored, content, &mapped) != 0 ||
        claim_parameters(stored, &mapped, content, &parameters) != 0) {
        status = graft_fail_memory(error, "");
    } else {
        status = fill_tensors(stored, &parameters, &mapped, content, error);
    }
    graft_claims_free(&parameters);
    graft_claims_free(&mapped);
    if (status != GRAFT_OK) {
        graft_save_content_finish(content);
    }
    return status;
}

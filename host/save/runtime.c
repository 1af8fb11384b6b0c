/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime layout: one tensor for each parameter of the tree, and the journal for going back to the original layout.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "save/undo.h"

/* The type of the tensor that holds all row blocks: the blocks' type, or f32 where the blocks differ. */
static graft_dtype dtype_of(const struct graft_weight *weight) {
    graft_dtype dtype = graft_weight_block(weight, 0)->dtype;
    for (int32_t i = 1; i < weight->n_blocks; i++) {
        if (graft_weight_block(weight, i)->dtype != dtype) {
            return GRAFT_DTYPE_F32;
        }
    }
    return dtype;
}

static int add_parameter(const struct journal *stored, struct save_content *content, size_t i,
                         struct journal *journal) {
    const struct graft_parameter *parameter = content->bindings[i]->parameter;
    const struct graft_weight *weight = parameter->weight;
    struct journal_tensor form = {.name = parameter->name,
                                  .dtype = dtype_of(weight),
                                  .rank = parameter->rank,
                                  .count = weight->rows * weight->columns};
    struct save_part all = {&content->parameters[i], graft_box_run(0, 0, form.count)};
    memcpy(form.shape, parameter->shape, sizeof form.shape);
    if (graft_content_add_tensor(content, &form) != 0 ||
        graft_content_add_part(&content->tensors[content->n_tensors - 1], &all) != 0) {
        return -1;
    }
    return graft_journal_add_origin(journal, stored, parameter->name, &content->bindings[i]->value, form.count);
}

/* A parameter's index and name, for finding parameters of the same name. */
struct named {
    const char *name;
    size_t index;
};

static int compare_named(const void *left, const void *right) {
    const struct named *a = left, *b = right;
    int order = strcmp(a->name, b->name);
    return order != 0 ? order : (a->index > b->index) - (a->index < b->index);
}

static int same_value(const struct graft_binding *a, const struct graft_binding *b) {
    const struct graft_value *left = &a->value, *right = &b->value;
    if (left->rank != right->rank || memcmp(left->shape, right->shape, sizeof left->shape) != 0 ||
        left->n_parts != right->n_parts || a->status != b->status) {
        return 0;
    }
    for (size_t i = 0; i < left->n_parts; i++) {
        const struct graft_part *x = &left->parts[i], *y = &right->parts[i];
        if (x->tensor != y->tensor || !graft_box_same(&x->box, &y->box, 1)) {
            return 0;
        }
    }
    return 1;
}

/* Marks in `skip` each parameter that repeats an earlier one, such as that of an original next to its replacement. */
static int find_repeated(const struct save_content *content, unsigned char *skip, struct graft_error *error) {
    int status = GRAFT_OK;
    struct named *named = graft_alloc(content->n_parameters, sizeof *named);
    if (named == NULL) {
        return graft_fail_memory(error, "");
    }
    for (size_t i = 0; i < content->n_parameters; i++) {
        named[i] = (struct named){content->bindings[i]->parameter->name, i};
    }
    qsort(named, content->n_parameters, sizeof *named, compare_named);
    for (size_t i = 1; i < content->n_parameters && status == GRAFT_OK; i++) {
        if (strcmp(named[i - 1].name, named[i].name) == 0) {
            skip[named[i].index] = 1;
            if (!same_value(content->bindings[named[i - 1].index], content->bindings[named[i].index])) {
                status = graft_error_set(error, GRAFT_ERROR_PLUGIN, named[i].name,
                                         "a replacement and the original that it calls give this name to different "
                                         "parameters; one runtime layout cannot hold both");
            }
        }
    }
    graft_free(named);
    return status;
}

static int add_parameters(const struct journal *stored, struct save_content *content, struct journal *journal,
                          struct graft_error *error) {
    unsigned char *skip = graft_alloc(content->n_parameters, 1);
    int status = skip != NULL ? find_repeated(content, skip, error) : graft_fail_memory(error, "");
    for (size_t i = 0; i < content->n_parameters && status == GRAFT_OK; i++) {
        if (!skip[i] && add_parameter(stored, content, i, journal) != 0) {
            status = graft_fail_memory(error, content->bindings[i]->parameter->name);
        }
    }
    graft_free(skip);
    return status;
}

/* Whether the journal restores every element of every original tensor. */
static int check_complete(const struct journal *journal, struct graft_error *error) {
    static const struct save_source any;
    struct save_content undone = {0};
    struct claims claims = {0};
    int status = GRAFT_OK;
    for (size_t i = 0; i < journal->n_entries && status == GRAFT_OK; i++) {
        status = graft_claims_add(&claims, &journal->entries[i], &any) == 0 ? GRAFT_OK : graft_fail_memory(error, "");
    }
    if (status == GRAFT_OK && graft_claims_undo(journal, NULL, &undone, &claims) != 0) {
        status = graft_fail_memory(error, "");
    }
    for (size_t i = 0; i < journal->n_tensors && status == GRAFT_OK; i++) {
        struct save_tensor tensor = {.form = journal->tensors[i]};
        int needed = tensor.form.lost == NULL && !tensor.form.made;
        int result = needed ? graft_claims_fill(&claims, NULL, i, &tensor) : 0;
        if (result != 0) {
            status = result < 0
                         ? graft_fail_memory(error, tensor.form.name)
                         : graft_error_set(error, GRAFT_ERROR_MODEL, tensor.form.name,
                                           "no parameter holds all of it, so the runtime layout would lose some");
        }
        graft_free(tensor.parts);
    }
    graft_claims_free(&claims);
    graft_save_content_finish(&undone);
    return status;
}

/* Marks the tensors that a value comes from. */
static int mark_origins(const struct journal *stored, const struct graft_value *value, const char *lost,
                        struct journal *journal) {
    struct journal_entry entry = {0};
    int status = graft_journal_compose(stored, value, &entry);
    for (size_t i = 0; i < entry.n_parts; i++) {
        journal->tensors[entry.parts[i].tensor].lost = lost;
    }
    graft_free(entry.parts);
    return status;
}

/* Marks the inputs of a use as lost where one of its outputs is lost. */
static void spread_lost(const struct journal *stored, struct journal *journal) {
    for (size_t i = stored->n_uses; i > 0; i--) {
        const struct journal_use *use = &stored->uses[i - 1];
        const char *lost = NULL;
        for (int32_t k = 0; k < use->n_outputs; k++) {
            const char *of = journal->tensors[use->first + (size_t)k].lost;
            lost = of != NULL ? of : lost;
        }
        for (int32_t k = 0; k < use->n_inputs && lost != NULL; k++) {
            for (size_t m = 0; m < use->origins[k].n_parts; m++) {
                journal->tensors[use->origins[k].parts[m].tensor].lost = lost;
            }
        }
    }
}

/* Marks tensors as lost whose elements only irreversible custom operations hold. The journal keeps the operations'
 * names. */
static int mark_lost(const struct graft_plan *plan, const struct journal *stored, struct journal *journal,
                     struct graft_error *error) {
    journal->texts = graft_alloc(plan->n_computed + 1, sizeof *journal->texts);
    if (journal->texts == NULL) {
        return graft_fail_memory(error, "");
    }
    for (size_t i = 0; i < plan->n_computed; i++) {
        const struct graft_computed *computed = plan->computed[i];
        if (computed->operation->reverse != NULL || computed->from_tied) {
            continue;
        }
        char *text = graft_format("%s of plugin %s", computed->operation->name,
                                  computed->plugin != NULL ? computed->plugin : "(none)");
        if (text == NULL) {
            return graft_fail_memory(error, computed->place);
        }
        journal->texts[journal->n_texts++] = text;
        for (int32_t k = 0; k < computed->n_inputs; k++) {
            if (mark_origins(stored, &computed->inputs[k], text, journal) != 0) {
                return graft_fail_memory(error, computed->place);
            }
        }
    }
    spread_lost(stored, journal);
    return GRAFT_OK;
}

/* Moves the uses of `stored` to `journal`. */
static void take_uses(struct journal *stored, struct journal *journal) {
    journal->uses = stored->uses;
    journal->n_uses = stored->n_uses;
    stored->uses = NULL;
    stored->n_uses = 0;
    stored->use_capacity = 0;
}

int graft_save_content_runtime(const struct graft_plan *plan, struct journal *stored, struct save_content *content,
                               struct journal *journal, struct graft_error *error) {
    *journal = (struct journal){0};
    int status = graft_content_init(plan, content, error);
    if (status != GRAFT_OK) {
        return status;
    }
    for (size_t i = 0; i < stored->n_tensors && status == GRAFT_OK; i++) {
        status = graft_journal_add_tensor(journal, &stored->tensors[i]) == 0 ? GRAFT_OK : graft_fail_memory(error, "");
    }
    if (status == GRAFT_OK) {
        status = mark_lost(plan, stored, journal, error);
    }
    if (status == GRAFT_OK) {
        status = add_parameters(stored, content, journal, error);
    }
    if (status == GRAFT_OK) {
        status = graft_content_add_unused(plan, stored, content, journal, error);
    }
    if (status == GRAFT_OK) {
        take_uses(stored, journal);
        status = check_complete(journal, error);
    }
    if (status != GRAFT_OK) {
        graft_save_content_finish(content);
        graft_journal_finish(journal);
    }
    return status;
}

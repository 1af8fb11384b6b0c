/* SPDX-License-Identifier: Apache-2.0 */
#include "save/undo.h"

#include "base/alloc.h"
#include "base/dtype.h"
#include "base/fail.h"
#include "save/undo_run.h"

static void release(struct save_made *made) {
    for (int32_t k = 0; k < made->use->n_inputs; k++) {
        graft_free((void *)(uintptr_t)made->inputs[k].data);
        made->inputs[k].data = NULL;
    }
}

void graft_save_made_finish(struct save_made *made) {
    if (made->inputs != NULL) {
        release(made);
    }
    for (int32_t k = 0; made->outputs != NULL && k < made->use->n_outputs; k++) {
        graft_free(made->outputs[k].parts);
    }
    graft_free(made->outputs);
    graft_free(made->inputs);
    graft_free(made->sources);
}

/* Finds the outputs among the claims. Returns 0, 1 if no source has all of them, or -1 if memory ran out. */
static int find_outputs(const struct journal *journal, const struct claims *claims, const struct claims *mapped,
                        struct save_made *made) {
    int result = 0;
    for (int32_t k = 0; k < made->use->n_outputs && result == 0; k++) {
        size_t number = made->use->first + (size_t)k;
        made->outputs[k].form = journal->tensors[number];
        made->outputs[k].bytes = made->outputs[k].form.count * graft_dtype_size(made->outputs[k].form.dtype);
        result = graft_claims_fill(claims, mapped, number, &made->outputs[k]);
    }
    return result;
}

/* Adds the inputs as sources without data; they have the place of the first output in the tree. */
static int claim_inputs(struct save_made *made, struct claims *claims) {
    const struct journal_use *use = made->use;
    for (int32_t k = 0; k < use->n_inputs; k++) {
        const struct graft_value_info *info = &use->inputs[k];
        made->inputs[k] = (struct graft_tensor_view){
            .name = use->name,
            .dtype = info->dtype,
            .rank = info->rank,
            .bytes = graft_tensor_view_size(info->dtype, info->rank, info->shape),
        };
        for (int32_t i = 0; i < GRAFT_MAX_RANK; i++) {
            made->inputs[k].shape[i] = info->shape[i];
        }
        made->sources[k] = (struct save_source){
            .view = &made->inputs[k], .order = made->outputs[0].parts[0].source->order, .made = made};
        if (graft_claims_add(claims, &use->origins[k], &made->sources[k]) != 0) {
            return -1;
        }
    }
    return 0;
}

static int undo_one(const struct journal *journal, const struct journal_use *use, struct save_content *content,
                    const struct claims *claims, const struct claims *mapped, struct claims *more) {
    struct save_made *made = &content->made[content->n_made];
    *made = (struct save_made){
        .use = use,
        .outputs = graft_alloc((size_t)use->n_outputs, sizeof *made->outputs),
        .inputs = graft_alloc((size_t)use->n_inputs, sizeof *made->inputs),
        .sources = graft_alloc((size_t)use->n_inputs, sizeof *made->sources),
    };
    int result = made->outputs != NULL && made->inputs != NULL && made->sources != NULL
                     ? find_outputs(journal, claims, mapped, made)
                     : -1;
    result = result == 0 ? claim_inputs(made, more) : result;
    if (result != 0) {
        graft_save_made_finish(made);
        return result < 0 ? -1 : 0;
    }
    content->n_made++;
    return 0;
}

/* Whether an input of the operation was the output of another one. */
static int is_chained(const struct journal *journal, const struct journal_use *use) {
    int chained = 0;
    for (int32_t k = 0; k < use->n_inputs; k++) {
        for (size_t i = 0; i < use->origins[k].n_parts; i++) {
            chained |= journal->tensors[use->origins[k].parts[i].tensor].made;
        }
    }
    return chained;
}

int graft_claims_undo(const struct journal *journal, const struct claims *mapped, struct save_content *content,
                      struct claims *claims) {
    struct claims more = {0};
    int status = 0;
    content->made = graft_alloc(journal->n_uses, sizeof *content->made);
    if (content->made == NULL) {
        return -1;
    }
    graft_claims_sort(claims);
    for (size_t i = journal->n_uses; i > 0 && status == 0; i--) {
        const struct journal_use *use = &journal->uses[i - 1];
        status = undo_one(journal, use, content, claims, mapped, &more);
        if (status == 0 && is_chained(journal, use)) {
            status = graft_claims_merge(claims, &more);
        }
    }
    status = status == 0 ? graft_claims_merge(claims, &more) : status;
    graft_claims_free(&more);
    return status;
}

static void want(const struct save_tensor *tensor) {
    for (size_t i = 0; i < tensor->n_parts; i++) {
        if (tensor->parts[i].source->made != NULL) {
            tensor->parts[i].source->made->wanted = 1;
        }
    }
}

int graft_save_undo_for(const struct save_content *content, const struct save_tensor *tensor,
                        struct graft_error *error) {
    int status = GRAFT_OK;
    for (size_t i = 0; i < content->n_made; i++) {
        content->made[i].wanted = 0;
    }
    want(tensor);
    for (size_t i = content->n_made; i > 0; i--) {
        struct save_made *made = &content->made[i - 1];
        for (int32_t k = 0; made->wanted && made->inputs[0].data == NULL && k < made->use->n_outputs; k++) {
            want(&made->outputs[k]);
        }
        if (!made->wanted) {
            release(made);
        }
    }
    for (size_t i = 0; i < content->n_made && status == GRAFT_OK; i++) {
        struct save_made *made = &content->made[i];
        if (made->wanted && made->inputs[0].data == NULL) {
            status = graft_undo_run(made, error);
        }
    }
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/culprit.h"

#include <string.h>

#include "base/alloc.h"
#include "hooks/comparison.h"
#include "library/library.h"

static int differs(const struct graft_compared_node *item) {
    return item->reason == NULL && item->calls > 0 &&
           !(item->largest.difference <= graft_difference_limit(&item->largest, GRAFT_VALIDATION_TOLERANCE));
}

int graft_path_is_below(const char *path, const char *above) {
    const size_t length = strlen(above);
    return strncmp(path, above, length) == 0 && (length == 0 || path[length] == '.');
}

/* Items are in the order of the tree, parents first. */
static const struct graft_compared_node *find(const struct graft_tree_comparison *comparison) {
    const struct graft_compared_node *found = NULL;
    for (size_t i = 0; i < comparison->count; i++) {
        const struct graft_compared_node *item = &comparison->items[i];
        if (differs(item) && (found == NULL || graft_path_is_below(item->node->path, found->node->path))) {
            found = item;
        }
    }
    return found;
}

void graft_culprit_add(struct graft_subject *subject, struct graft_model *original, const struct graft_prompt *prompt,
                       struct graft_error *error) {
    struct graft_tree_comparison comparison;
    struct graft_error own = graft_error_none();
    float *logits = NULL;
    int status = graft_tree_comparison_begin(subject->model->tree, original->tree, 0, 1,
                                             graft_model_kv_dtype(subject->model), &comparison, &own);
    if (status == GRAFT_OK) {
        status = graft_make_logits(subject, subject->model, prompt, 1, &logits, &own);
    }
    const struct graft_compared_node *found = status == GRAFT_OK ? find(&comparison) : NULL;
    if (found != NULL) {
        graft_error_hint(error, "the first to differ is %s (%s): by %.3g (values up to %.3g) for the same inputs",
                         found->node->path, found->node->class_name, found->largest.difference, found->largest.value);
    }
    graft_free(logits);
    graft_tree_comparison_finish(&comparison);
}

int graft_compare_with_original(struct graft_subject *subject, const struct graft_prompt *prompt,
                                struct graft_error *error) {
    struct graft_library *library = NULL;
    struct graft_model *original = NULL;
    int status = graft_subject_open(subject, 1, &library, &original, error);
    if (status == GRAFT_OK) {
        status = graft_same_logits_of(subject, original, subject->model, prompt, "logits with it and without",
                                      GRAFT_VALIDATION_TOLERANCE, error);
    }
    if (status == GRAFT_ERROR_PLUGIN) {
        graft_culprit_add(subject, original, prompt, error);
    }
    graft_model_free(original);
    graft_library_free(library);
    return status;
}

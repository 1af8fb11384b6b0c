/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/absent.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "names/name.h"

/* Makes the view of an absent tensor, with the type and shape of a present one. */
static const struct graft_tensor_view *make_view(struct graft_plan *plan, const struct graft_absent_file *file,
                                                 const char *name, const struct graft_tensor_view *like) {
    if (graft_grow(&plan->absent, &plan->absent_capacity, plan->n_absent, sizeof(struct graft_tensor_view *)) != 0) {
        return NULL;
    }
    struct graft_tensor_view *view = graft_alloc(1, sizeof *view);
    if (view != NULL) {
        *view = *like;
        view->name = name;
        view->data = NULL;
        view->absent = file;
        plan->absent[plan->n_absent++] = view;
    }
    return view;
}

/* The number that a name's `*` matches in another name; -1 if the other name does not match. */
static int64_t index_in(const char *name, const char *star, const char *other) {
    size_t before = (size_t)(star - name);
    const char *digits = strncmp(other, name, before) == 0 ? other + before : "";
    size_t n = strspn(digits, "0123456789");
    return n > 0 && strcmp(digits + n, star + 1) == 0 ? graft_name_index(digits, n) : -1;
}

int graft_absent_gather(struct graft_plan *plan, const char *name, struct gathered *gathered,
                        struct graft_error *error) {
    const struct graft_tensor_view *like = gathered->items[0].view;
    const char *star = strchr(name, '*');
    int status = GRAFT_OK;
    for (size_t i = 0; i < graft_checkpoint_absent_count(plan->checkpoint); i++) {
        const struct graft_absent_file *file = graft_checkpoint_absent_at(plan->checkpoint, i);
        for (size_t k = 0; k < file->n_tensors && status == GRAFT_OK; k++) {
            int64_t index = index_in(name, star, file->tensors[k]);
            const struct graft_tensor_view *view = index >= 0 ? make_view(plan, file, file->tensors[k], like) : NULL;
            if (view != NULL) {
                status = graft_gathered_add(gathered, index, view, error);
            } else if (index >= 0) {
                status = graft_fail_memory(error, name);
            }
        }
    }
    return status;
}

/* The first absent tensor that a value needs, directly or through custom operations; NULL if there is none. */
static const struct graft_tensor_view *find_held(const struct graft_value *value) {
    const struct graft_tensor_view *found = NULL;
    for (size_t i = 0; i < value->n_parts && found == NULL; i++) {
        const struct graft_tensor_view *tensor = value->parts[i].tensor;
        found = tensor->absent != NULL ? tensor : NULL;
        for (int32_t k = 0; tensor->computed != NULL && k < tensor->computed->n_inputs && found == NULL; k++) {
            found = find_held(&tensor->computed->inputs[k]);
        }
    }
    return found;
}

static int by_name(const void *left, const void *right) {
    const struct graft_tensor_view *const *a = left, *const *b = right;
    return strcmp((*a)->name, (*b)->name);
}

static int is_gathered(const struct graft_plan *plan, const char *tensor) {
    const struct graft_tensor_view key = {.name = tensor}, *wanted = &key;
    return plan->n_absent > 0 && bsearch(&wanted, plan->absent, plan->n_absent, sizeof *plan->absent, by_name) != NULL;
}

int graft_absent_check(const struct graft_plan *plan, int (*is_elsewhere)(const void *data, const char *tensor),
                       const void *data, struct graft_error *error) {
    for (size_t i = 0; i < plan->n_bindings && plan->n_absent > 0; i++) {
        const struct graft_tensor_view *held = find_held(&plan->bindings[i].value);
        if (held != NULL) {
            return graft_checkpoint_fail_absent(plan->checkpoint, held->absent, held->name, error);
        }
    }
    if (plan->n_absent > 0) {
        qsort(plan->absent, plan->n_absent, sizeof *plan->absent, by_name);
    }
    for (size_t i = 0; i < graft_checkpoint_absent_count(plan->checkpoint); i++) {
        const struct graft_absent_file *file = graft_checkpoint_absent_at(plan->checkpoint, i);
        for (size_t k = 0; k < file->n_tensors; k++) {
            if (!is_elsewhere(data, file->tensors[k]) && !is_gathered(plan, file->tensors[k])) {
                return graft_checkpoint_fail_absent(plan->checkpoint, file, file->tensors[k], error);
            }
        }
    }
    return GRAFT_OK;
}

const struct graft_absent_file *graft_absent_find(const struct graft_checkpoint *checkpoint, const char *name) {
    for (size_t i = 0; i < graft_checkpoint_absent_count(checkpoint); i++) {
        const struct graft_absent_file *file = graft_checkpoint_absent_at(checkpoint, i);
        for (size_t k = 0; k < file->n_tensors; k++) {
            if (strcmp(file->tensors[k], name) == 0) {
                return file;
            }
        }
    }
    return NULL;
}

void graft_absent_free(struct graft_plan *plan) {
    for (size_t i = 0; i < plan->n_absent; i++) {
        graft_free(plan->absent[i]);
    }
    graft_free(plan->absent);
}

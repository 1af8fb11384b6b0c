/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/remote_parameters.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/dtype.h"
#include "base/fail.h"
#include "plan/absent.h"

/* The paths that the checkpoint may use for modules of other processes. */
struct places {
    const struct lookup *lookup;
    char **paths; /* [n], sorted */
    size_t n;
    size_t capacity;
};

static int collect(void *data, struct graft_node *node, struct graft_error *error) {
    struct places *places = data;
    for (int way = 0; node->is_elsewhere && way < GRAFT_LOOKUP_WAYS; way++) {
        char spelled[GRAFT_NAME_BYTES];
        if (!graft_lookup_spell(places->lookup, node->path, way, spelled) || spelled[0] == '\0') {
            continue;
        }
        if (graft_grow(&places->paths, &places->capacity, places->n, sizeof *places->paths) != 0 ||
            (places->paths[places->n] = graft_strdup(spelled)) == NULL) {
            return graft_fail_memory(error, node->path);
        }
        places->n++;
    }
    return GRAFT_OK;
}

static void places_finish(struct places *places) {
    for (size_t i = 0; i < places->n; i++) {
        graft_free(places->paths[i]);
    }
    graft_free(places->paths);
}

static int by_path(const void *left, const void *right) {
    return strcmp(*(char *const *)left, *(char *const *)right);
}

/* Whether a tensor is below one of the paths, of which a large mixture of experts has thousands. */
static int is_elsewhere(const void *data, const char *tensor) {
    const struct places *places = data;
    char path[GRAFT_NAME_BYTES];
    const char *key = path;
    for (const char *dot = strchr(tensor, '.'); dot != NULL && (size_t)(dot - tensor) < sizeof path && places->n > 0;
         dot = strchr(dot + 1, '.')) {
        memcpy(path, tensor, (size_t)(dot - tensor));
        path[dot - tensor] = '\0';
        if (bsearch(&key, places->paths, places->n, sizeof *places->paths, by_path) != NULL) {
            return 1;
        }
    }
    return 0;
}

static void add(struct graft_plan *plan, const struct graft_tensor_view *tensor) {
    plan->elsewhere[plan->n_elsewhere++] = tensor;
    plan->elsewhere_bytes += tensor->bytes;
}

/* Moves the tensors of modules on other ranks from `unexpected` to `elsewhere`. */
static void move(struct graft_plan *plan, const struct places *places) {
    size_t kept = 0;
    for (size_t i = 0; i < plan->n_unexpected; i++) {
        const struct graft_tensor_view *tensor = plan->unexpected[i];
        if (is_elsewhere(places, tensor->name)) {
            add(plan, tensor);
        } else {
            plan->unexpected[kept++] = tensor;
        }
    }
    plan->n_unexpected = kept;
}

/* Adds up, for each tensor, the elements that a value holds of it, directly or through custom operations. */
static void count_held(const struct graft_plan *plan, const struct graft_value *value, int64_t *held) {
    for (size_t i = 0; i < value->n_parts; i++) {
        const struct graft_part *part = &value->parts[i];
        const struct graft_computed *computed = part->tensor->computed;
        size_t number = computed == NULL ? graft_checkpoint_number(plan->checkpoint, part->tensor) : SIZE_MAX;
        for (int32_t k = 0; computed != NULL && k < computed->n_inputs; k++) {
            count_held(plan, &computed->inputs[k], held);
        }
        if (number != SIZE_MAX) {
            held[number] += graft_box_count(&part->box) * graft_stored_dtype_unit(part->tensor->dtype);
        }
    }
}

/* Adds the elements that Slices dropped and no parameter holds. */
static int add_dropped(struct graft_plan *plan, struct graft_error *error) {
    size_t n = graft_checkpoint_count(plan->checkpoint);
    int64_t *held = memchr(plan->sliced, 1, n) != NULL ? graft_alloc(n, sizeof *held) : NULL;
    if (memchr(plan->sliced, 1, n) == NULL) {
        return GRAFT_OK;
    }
    if (held == NULL) {
        return graft_fail_memory(error, "");
    }
    for (size_t i = 0; i < plan->n_bindings; i++) {
        count_held(plan, &plan->bindings[i].value, held);
    }
    for (size_t i = 0; i < n; i++) {
        const struct graft_tensor_view *tensor = graft_checkpoint_at(plan->checkpoint, i);
        if (plan->sliced[i] && held[i] == 0) {
            add(plan, tensor);
        } else if (plan->sliced[i] && held[i] < tensor->bytes) {
            plan->elsewhere_bytes += tensor->bytes - held[i];
        }
    }
    graft_free(held);
    return GRAFT_OK;
}

static int by_name(const void *left, const void *right) {
    const struct graft_tensor_view *const *a = left, *const *b = right;
    return strcmp((*a)->name, (*b)->name);
}

/* Fills `elsewhere` with both kinds, sorted by name. */
static int fill(struct graft_plan *plan, const struct places *places, struct graft_error *error) {
    size_t room = plan->n_unexpected + graft_checkpoint_count(plan->checkpoint);
    plan->elsewhere = graft_alloc(room + 1, sizeof(struct graft_tensor_view *));
    if (plan->elsewhere == NULL) {
        return graft_fail_memory(error, "");
    }
    move(plan, places);
    int status = add_dropped(plan, error);
    if (plan->n_elsewhere > 0) {
        qsort(plan->elsewhere, plan->n_elsewhere, sizeof *plan->elsewhere, by_name);
    }
    return status;
}

int graft_plan_find_elsewhere(struct graft_plan *plan, const struct lookup *lookup, struct graft_error *error) {
    struct places places = {.lookup = lookup};
    int status = plan->tree->n_elsewhere > 0 ? graft_tree_walk(plan->tree, collect, &places, error) : GRAFT_OK;
    if (status == GRAFT_OK) {
        if (places.n > 0) {
            qsort(places.paths, places.n, sizeof *places.paths, by_path);
        }
        status = fill(plan, &places, error);
    }
    if (status == GRAFT_OK) {
        status = graft_absent_check(plan, is_elsewhere, &places, error);
    }
    places_finish(&places);
    return status;
}

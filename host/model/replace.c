/* SPDX-License-Identifier: Apache-2.0 */
/* Builds a tree with replacements. What must be known beforehand is found with temporary trees. */
#include "base/alloc.h"
#include "base/fail.h"
#include "model/describe.h"
#include "registry/assignment.h"

/* The places of all modules of a class. */
struct places {
    const char *model_type;
    const struct graft_model_facts *facts;
    struct graft_module_place *items;
    size_t count;
    size_t capacity;
};

static int collect_place(void *data, struct graft_node *node, struct graft_error *error) {
    struct places *places = data;
    if (node->known == NULL) {
        return GRAFT_OK;
    }
    if (graft_grow(&places->items, &places->capacity, places->count, sizeof *places->items) != 0) {
        return graft_fail_memory(error, node->path);
    }
    places->items[places->count++] = (struct graft_module_place){.class_name = node->class_name,
                                                                 .path = node->path,
                                                                 .model_type = places->model_type,
                                                                 .asking = node->known->origin.plugin,
                                                                 .facts = places->facts};
    return GRAFT_OK;
}

/* Checks patterns against the classes that the model has without replacements. */
static int check_patterns(const struct graft_tree_options *options, struct graft_assignment *assignment, int *changed,
                          struct graft_error *error) {
    struct graft_tree *own = NULL;
    struct places places = {.model_type = options->config->model_type, .facts = options->facts};
    int status = options->plain == NULL ? graft_builder_build_plain(options, &own, error) : GRAFT_OK;
    if (status == GRAFT_OK) {
        status = graft_tree_walk(own != NULL ? own : options->plain, collect_place, &places, error);
    }
    if (status == GRAFT_OK) {
        status =
            graft_snapshot_check_patterns(options->snapshot, places.items, places.count, assignment, changed, error);
    }
    graft_free(places.items);
    graft_tree_free(own);
    return status;
}

/* Decides on groups. Each trial but the last leaves out at least one group. */
static int decide_groups(const struct graft_tree_options *options, struct graft_assignment *assignment,
                         const struct fusions *fusions, struct graft_error *error) {
    int status = GRAFT_OK;
    int changed = graft_assignment_has_groups(assignment);
    while (changed && status == GRAFT_OK) {
        struct graft_tree *tree = NULL;
        graft_assignment_start(assignment, 1);
        status = graft_builder_build(options, assignment, fusions, &tree, error);
        if (status == GRAFT_OK && !graft_assignment_was_vetoed(assignment)) {
            status = graft_assignment_decide(assignment, &changed, error);
        }
        graft_tree_free(tree);
    }
    return status;
}

/* Makes all decisions that come before building the tree. */
static int decide(const struct graft_tree_options *options, struct graft_assignment *assignment,
                  struct fusions *fusions, struct graft_error *error) {
    int status = graft_fusions_find_modules(options, fusions, error);
    int changed = 1;
    while (changed && status == GRAFT_OK) {
        status = decide_groups(options, assignment, fusions, error);
        if (status == GRAFT_OK) {
            status = check_patterns(options, assignment, &changed, error);
        }
    }
    return status;
}

/* Builds the tree with all decisions. Whenever classes turn out to join what cannot be joined, groups are decided again
 * and the tree is built again, with fewer modules for these classes. */
static int build_joined(const struct graft_tree_options *options, struct graft_assignment *assignment,
                        const struct fusions *fusions, struct graft_tree **built, struct graft_error *error) {
    int status = GRAFT_OK;
    *built = NULL;
    do {
        if (*built != NULL) {
            graft_tree_free(*built);
            *built = NULL;
            status = decide_groups(options, assignment, fusions, error);
        }
        graft_assignment_start(assignment, 0);
        if (status == GRAFT_OK) {
            status = graft_builder_build(options, assignment, fusions, built, error);
        }
    } while (status == GRAFT_OK && graft_assignment_was_vetoed(assignment));
    return status;
}

/* Builds the tree, and a second time if classes asked for sizes, which are known then. */
static int build(const struct graft_tree_options *options, struct graft_assignment *assignment,
                 const struct fusions *fusions, struct graft_tree **tree, struct graft_error *error) {
    struct graft_tree_options again = *options;
    int status = build_joined(options, assignment, fusions, tree, error);
    if (status != GRAFT_OK || !(*tree)->wants_sizes) {
        return status;
    }
    struct graft_tree *sized = *tree;
    graft_tree_measure(sized);
    again.sized = sized;
    status = build_joined(&again, assignment, fusions, tree, error);
    graft_tree_free(sized);
    return status;
}

int graft_tree_build(const struct graft_tree_options *options, struct graft_tree **tree, struct graft_error *error) {
    struct graft_tree *built = NULL;
    struct fusions fusions = {0};
    struct graft_error own = graft_error_none();
    error = error != NULL ? error : &own; /* `describe` reports failures only there */
    struct graft_assignment *assignment = graft_assignment_create(options->snapshot, options->config->model_type,
                                                                  options->facts, options->skip_bad_plugins);
    int status = assignment != NULL ? GRAFT_OK : graft_fail_memory(error, options->class_name);
    if (status == GRAFT_OK && options->only_method != NULL) {
        graft_assignment_keep_method(assignment, options->only_method);
    }
    if (status == GRAFT_OK && !options->without_replacements) {
        status = decide(options, assignment, &fusions, error);
    }
    if (status == GRAFT_OK) {
        status = build(options, assignment, &fusions, &built, error);
    }
    if (status != GRAFT_OK) {
        graft_assignment_free(assignment);
        graft_model_fusions_finish(&fusions);
        return status;
    }
    built->snapshot = graft_snapshot_retain(options->snapshot);
    built->assignment = assignment;
    built->fused_modules = fusions.fused_modules;
    built->n_fused_modules = fusions.n;
    status = graft_fusions_check_conversions(built, error);
    if (status != GRAFT_OK) {
        graft_tree_free(built);
        return status;
    }
    *tree = built;
    return GRAFT_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Building a tree with replacements: what must be known beforehand is found with trees that are thrown away. */
#include "base/alloc.h"
#include "base/fail.h"
#include "model/describe.h"
#include "registry/assignment.h"

/* Every module with a class. */
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

/* Patterns are judged by the classes that this model uses before anything is replaced. */
static int check_patterns(const struct graft_tree_options *options, struct graft_assignment *assignment, int *changed,
                          struct graft_error *error) {
    struct graft_tree *tree = NULL;
    struct places places = {.model_type = options->config->model_type, .facts = options->facts};
    int status = graft_builder_build_plain(options, &tree, error);
    if (status == GRAFT_OK) {
        status = graft_tree_walk(tree, collect_place, &places, error);
    }
    if (status == GRAFT_OK) {
        status =
            graft_snapshot_check_patterns(options->snapshot, places.items, places.count, assignment, changed, error);
    }
    graft_free(places.items);
    graft_tree_free(tree);
    return status;
}

/* Each trial leaves out a group at least, or is the last. */
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

/* What has to be known before the tree can be built. */
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

/* The tree with all that was decided; again, and with groups decided anew, while classes turn out to join what cannot
 * be joined. Each time fewer modules are left for them. */
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

/* Classes that ask for sizes are answered when the tree is built for the second time. */
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
    error = error != NULL ? error : &own; /* which descriptions tell by whether one failed */
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

/* SPDX-License-Identifier: Apache-2.0 */
#include "model/fusion.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/paths.h"

/* The maximum number of reasons in one note. */
enum { MAX_REASONS = 4 };

const struct graft_candidate *graft_fusions_at(const struct fusions *fusions, const char *path) {
    for (size_t i = 0; i < fusions->n; i++) {
        const struct graft_candidate *candidate = graft_fused_modules_at(fusions->fused_modules[i], path);
        if (candidate != NULL) {
            return candidate;
        }
    }
    return NULL;
}

static const char *family_name(const struct graft_candidate *candidate) {
    return graft_fusion_family_of(candidate->family)->name;
}

/* Checks that the last family fuses no module that an earlier one fuses. */
static int check_overlap(const struct fusions *before, const struct graft_fused_modules *last,
                         struct graft_error *error) {
    for (size_t i = 0; i < last->n; i++) {
        const struct graft_candidate *mine = last->candidates[i];
        const struct graft_candidate *other = mine->fusable ? graft_fusions_at(before, mine->path) : NULL;
        if (other != NULL) {
            int status = graft_error_set(error, GRAFT_ERROR_PLUGIN, mine->path,
                                         "fusion families %s and %s both fuse this module", family_name(other),
                                         family_name(mine));
            graft_error_hint(error, "ask for only one of them");
            return status;
        }
    }
    return GRAFT_OK;
}

int graft_fusions_find_modules(const struct graft_tree_options *options, struct fusions *fusions,
                               struct graft_error *error) {
    size_t n = options->fusion != NULL ? options->fusion->n : 0;
    int status = GRAFT_OK;
    *fusions = (struct fusions){0};
    if (n > 0 && (fusions->fused_modules = graft_alloc(n, sizeof(struct graft_fused_modules *))) == NULL) {
        return graft_fail_memory(error, options->class_name);
    }
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        const struct graft_fused_modules *found = NULL;
        status = graft_fusion_find_modules(options, &options->fusion->choices[i], &found, error);
        if (status == GRAFT_OK) {
            status = check_overlap(fusions, found, error);
            fusions->fused_modules[fusions->n++] = found;
        }
    }
    return status;
}

void graft_model_fusions_finish(struct fusions *fusions) {
    for (size_t i = 0; i < fusions->n; i++) {
        graft_fused_modules_release(fusions->fused_modules[i]);
    }
    graft_free(fusions->fused_modules);
}

int graft_node_is_fused(const struct graft_node *node, const struct graft_candidate *candidate) {
    return node->known == &candidate->known || node->kernel_on == &candidate->known;
}

int graft_tree_is_fused(const struct graft_tree *tree, const struct graft_candidate *candidate,
                        struct graft_text *reason) {
    const struct graft_node *node = graft_node_find(tree->root, candidate->path);
    for (const struct graft_node *at = node; candidate->fusable && at != NULL; at = at->super) {
        if (graft_node_is_fused(at, candidate)) {
            return 1;
        }
    }
    if (reason != NULL && !candidate->fusable) {
        graft_text_add_string(reason, candidate->reason);
    } else if (reason != NULL && node == NULL) {
        graft_text_add_string(reason, "it is gone: a module above it was replaced");
    } else if (reason != NULL) {
        graft_text_printf(reason, "it is no longer a %s: a module above it was replaced", candidate->original->name);
    }
    return 0;
}

/* Writes why candidate `i` is not fused, replacing the content of `text`. */
static const char *reason_of(const struct graft_tree *tree, const struct graft_fused_modules *fused, size_t i,
                             struct graft_text *text) {
    text->length = 0;
    (void)graft_tree_is_fused(tree, fused->candidates[i], text);
    return text->length > 0 ? text->bytes : "";
}

/* Adds each reason once, with the modules to which it applies. */
static void add_reasons(const struct graft_tree *tree, const struct graft_fused_modules *fused,
                        struct graft_text *text) {
    struct graft_text reason = {0}, other = {0};
    const char **paths = graft_alloc(fused->n, sizeof *paths);
    unsigned char *told = graft_alloc(fused->n, 1);
    size_t n_reasons = 0, n_told = 0;
    text->failed |= paths == NULL || told == NULL;
    for (size_t i = 0; i < fused->n && n_reasons < MAX_REASONS && !text->failed; i++) {
        size_t n = 0;
        const char *why = told[i] ? NULL : reason_of(tree, fused, i, &reason);
        for (size_t k = i; why != NULL && k < fused->n; k++) {
            if (!told[k] && strcmp(reason_of(tree, fused, k, &other), why) == 0) {
                paths[n++] = fused->candidates[k]->path;
                told[k] = 1;
            }
        }
        if (n > 0) {
            graft_text_add_string(text, n_reasons > 0 ? "; " : "");
            graft_text_add_paths(text, paths, n);
            graft_text_printf(text, ": %s", why);
            n_reasons++;
            n_told += n;
        }
    }
    if (n_told < fused->n) {
        graft_text_printf(text, "; and %zu more modules, for other reasons", fused->n - n_told);
    }
    text->failed |= reason.failed || other.failed;
    graft_text_free(&reason);
    graft_text_free(&other);
    graft_free(paths);
    graft_free(told);
}

void graft_tree_fusion_note(const struct graft_tree *tree, const struct graft_fused_modules *fused,
                            struct graft_text *text) {
    const char *name = graft_fusion_family_of(fused->known)->name;
    for (size_t i = 0; i < fused->n; i++) {
        if (graft_tree_is_fused(tree, fused->candidates[i], NULL)) {
            return;
        }
    }
    graft_text_printf(text, "fusion %s: nothing in this model is compatible: ", name);
    if (fused->n == 0) {
        graft_text_add_string(text, "no module's path is one of ");
        graft_fusion_add_patterns(fused->known, text);
        return;
    }
    add_reasons(tree, fused, text);
}

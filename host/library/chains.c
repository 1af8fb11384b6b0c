/* SPDX-License-Identifier: Apache-2.0 */
/* Implements graft/host/modules.h: fusing and unfusing modules. */
#include "graft/host/modules.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "chains/chain.h"
#include "chains/glob.h"
#include "library/chain_probe.h"

int graft_model_place_chains(struct graft_model *model, size_t first, struct graft_error *error) {
    int status = first < model->chains.count ? graft_chains_try(model, first, error) : GRAFT_OK;
    for (size_t i = first; i < model->chains.count && status == GRAFT_OK; i++) {
        status = graft_chain_implement(model->chains.items[i], model->tree, error);
    }
    return status;
}

/* Publishes a chain. */
static int show(const struct graft_model *model, struct graft_fused_chain *chain, struct graft_error *error) {
    const struct graft_named_module **modules = graft_alloc(chain->n, sizeof *modules);
    if (modules == NULL) {
        return graft_fail_memory(error, model->directory);
    }
    for (size_t i = 0; i < chain->n; i++) {
        modules[i] = graft_published_module(model, chain->modules[i].node);
    }
    chain->info = (struct graft_chain_info){
        .struct_size = sizeof chain->info,
        .modules = modules,
        .n_modules = chain->n,
        .implementation = chain->implementation != NULL ? chain->implementation->name : NULL,
        .plugin = chain->implementation != NULL ? chain->plugin : NULL,
    };
    return GRAFT_OK;
}

static int fuse_all(struct graft_model *model, const struct graft_module_spec *specs, size_t n,
                    struct graft_error *error) {
    size_t first = model->chains.count;
    int loaded = model->bound != NULL;
    int status = loaded ? graft_model_check_loaded(model, error) : GRAFT_OK;
    if (status == GRAFT_OK) {
        status = graft_chains_match(model->tree, specs, n, &model->chains, error);
    }
    for (size_t i = first; i < model->chains.count && status == GRAFT_OK; i++) {
        status = show(model, model->chains.items[i], error);
    }
    if (status == GRAFT_OK && loaded) {
        status = graft_model_place_chains(model, first, error);
    }
    if (status != GRAFT_OK) {
        graft_chains_cut(&model->chains, first);
    }
    return status;
}

int graft_model_fuse_modules(struct graft_model *model, const struct graft_module_spec *specs, size_t n,
                             struct graft_error *error) {
    struct graft_context *before = graft_model_begin(model);
    int status = fuse_all(model, specs, n, error);
    (void)graft_context_enter(before);
    return status;
}

/* What unfusing searches for, and its result. */
struct search {
    struct graft_model *model;
    const char *path;
    unsigned char *wanted; /* per chain */
    size_t fits;
};

static int visit(void *data, struct graft_node *node, struct graft_error *error) {
    struct search *search = data;
    const struct graft_chains *chains = &search->model->chains;
    if (node->parent == NULL || !graft_glob_fits(search->path, node->path) ||
        graft_node_find(search->model->tree->root, node->path) != node) {
        return GRAFT_OK;
    }
    const struct graft_fused_chain *chain = graft_chains_find(chains, node);
    if (chain == NULL) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, node->path, "is not fused");
    }
    for (size_t i = 0; i < chains->count; i++) {
        search->wanted[i] |= chains->items[i] == chain;
    }
    search->fits++;
    return GRAFT_OK;
}

static int choose(struct search *search, const char *const *paths, size_t n, struct graft_error *error) {
    int status = GRAFT_OK;
    for (size_t i = 0; i < n && status == GRAFT_OK; i++) {
        search->path = paths[i];
        search->fits = 0;
        status = graft_tree_walk(search->model->tree, visit, search, error);
        if (status == GRAFT_OK && search->fits == 0) {
            status = graft_error_set(error, GRAFT_ERROR_USAGE, paths[i], "no module of %s matches it",
                                     search->model->tree->root->class_name);
        }
    }
    return status;
}

static int unfuse_all(struct graft_model *model, const char *const *paths, size_t n, struct graft_error *error) {
    struct graft_chains *chains = &model->chains;
    if (chains->count == 0) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, model->directory, "no module of this model was fused");
    }
    struct search search = {.model = model, .wanted = graft_alloc(chains->count, 1)};
    if (search.wanted == NULL) {
        return graft_fail_memory(error, model->directory);
    }
    memset(search.wanted, n == 0, chains->count);
    int status = choose(&search, paths, n, error);
    size_t kept = 0;
    for (size_t i = 0; status == GRAFT_OK && i < chains->count; i++) {
        if (search.wanted[i]) {
            graft_chain_free(chains->items[i]);
        } else {
            chains->items[kept++] = chains->items[i];
        }
    }
    chains->count = status == GRAFT_OK ? kept : chains->count;
    graft_free(search.wanted);
    return status;
}

int graft_model_unfuse_modules(struct graft_model *model, const char *const *paths, size_t n,
                               struct graft_error *error) {
    struct graft_context *before = graft_model_begin(model);
    int status = unfuse_all(model, paths, n, error);
    (void)graft_context_enter(before);
    return status;
}

const struct graft_chain_info *graft_model_chain(const struct graft_model *model, size_t i) {
    return i < model->chains.count ? &model->chains.items[i]->info : NULL;
}

const char *graft_model_fused_by(const struct graft_model *model, const char *path) {
    const struct graft_node *node = graft_node_find(model->tree->root, path);
    const struct graft_fused_chain *chain = node != NULL ? graft_chains_find(&model->chains, node) : NULL;
    if (chain == NULL || !chain->in_place) {
        return NULL;
    }
    return chain->implemented ? chain->plugin : "";
}

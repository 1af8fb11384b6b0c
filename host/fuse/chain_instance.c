/* SPDX-License-Identifier: Apache-2.0 */
/* Making what a plugin offers for a chain. */
#include "base/alloc.h"
#include "fuse/chain.h"
#include "model/node.h"
#include "model/tree.h"
#include "plugin/host_services.h"

static const struct graft_weight *find_weight(void *data, const char *name) {
    const struct graft_parameter *parameter = graft_node_parameter(data, name);
    return parameter != NULL ? parameter->weight : NULL;
}

static const struct graft_module *find_child(void *data, const char *name) {
    const struct graft_node *child = graft_node_find(data, name);
    return child != NULL && child->module.forward != NULL ? &child->module : NULL;
}

static int create(struct graft_fused_chain *chain, const struct graft_tree *tree, struct graft_build *builds,
                  struct graft_error *error) {
    const struct graft_chain *implementation = chain->implementation;
    for (size_t i = 0; i < chain->n; i++) {
        struct graft_node *node = chain->modules[i].node;
        builds[i] = (struct graft_build){
            .struct_size = sizeof builds[i],
            .path = node->path,
            .host = graft_host_get(),
            .config = &tree->config->view,
            .args = &node->args,
            .data = node,
            .weight = find_weight,
            .child = find_child,
        };
    }
    const struct graft_chain_build build = {sizeof build, (int32_t)chain->n, builds,
                                            chain->plain, sizeof *builds,    sizeof *chain->plain};
    int status = implementation->create(implementation, &build, &chain->instance, error);
    if (status != GRAFT_OK) {
        return graft_error_complete(error, status, chain->modules[0].node->path,
                                    "%s: create failed with status %d and recorded no error", implementation->name,
                                    status);
    }
    chain->implemented = 1;
    return GRAFT_OK;
}

int graft_chain_implement(struct graft_fused_chain *chain, const struct graft_tree *tree, struct graft_error *error) {
    if (chain->implementation == NULL) {
        return GRAFT_OK;
    }
    struct graft_build *builds = graft_alloc(chain->n, sizeof *builds);
    int status =
        builds != NULL ? create(chain, tree, builds, error) : graft_fail_memory(error, chain->modules[0].node->path);
    graft_free(builds);
    return status;
}

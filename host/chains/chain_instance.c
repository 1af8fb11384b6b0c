/* SPDX-License-Identifier: Apache-2.0 */
/* Creates a plugin's implementation of a chain. */
#include "base/alloc.h"
#include "base/crash_context.h"
#include "chains/chain.h"
#include "model/tree.h"
#include "plugin/host_services.h"

static int create(struct graft_fused_chain *chain, const struct graft_tree *tree, struct graft_build *builds,
                  struct graft_error *error) {
    const struct graft_chain *implementation = chain->implementation;
    for (size_t i = 0; i < chain->n; i++) {
        builds[i] = graft_node_build(chain->modules[i].node, tree, graft_host_get());
    }
    const struct graft_chain_build build = {sizeof build, (int32_t)chain->n, builds,
                                            chain->plain, sizeof *builds,    sizeof *chain->plain};
    const struct graft_plugin_call task = {"create", chain->modules[0].node->path, implementation->name, NULL, NULL};
    const struct graft_crash_context before = graft_crash_context_begin(&task);
    int status = implementation->create(implementation, &build, &chain->instance, error);
    graft_crash_context_end(before);
    status = status == GRAFT_OK ? error->code : status;
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
    struct graft_error own = graft_error_none();
    struct graft_build *builds = graft_alloc(chain->n, sizeof *builds);
    int status = builds != NULL ? create(chain, tree, builds, error != NULL ? error : &own)
                                : graft_fail_memory(error, chain->modules[0].node->path);
    graft_free(builds);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "../parts.h"
#include "graft/chain.h"

static int make(const struct graft_chain *self, const struct graft_chain_build *build, void **instance,
                struct graft_error *error) {
    (void)self, (void)build, (void)instance, (void)error;
    return GRAFT_OK;
}

static int run(void *instance, const struct graft_call *call, const struct graft_chain_args *args,
               struct graft_error *error) {
    (void)instance, (void)call, (void)args, (void)error;
    return GRAFT_OK;
}

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host, (void)error;
    static const char *const class_names[] = {"LlamaRMSNorm", "LlamaMLP"};
    static const char *interface_ids[] = {"graft.norm/1", "graft.mlp/1"};
    static struct graft_chain chain;
    static struct graft_plugin plugin;
    chain = (struct graft_chain){.struct_size = sizeof chain,
                                 .n_classes = 2,
                                 .name = "NormMLP",
                                 .class_names = class_names,
                                 .interface_ids = interface_ids,
                                 .create = make,
                                 .forward = run};
    plugin = good_plugin("chain_forward_missing", NULL, 0);
    plugin.chains = &chain;
    plugin.n_chains = 1;
    plugin.chain_stride = sizeof chain;
    chain.forward = NULL;
    return &plugin;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Declares a model type that the host has too, and a new one; both are llamas. It is built with two ids. */
#include "graft/family.h"
#include "graft/plugin.h"

static const struct graft_architecture architectures[] = {{"LlamaForCausalLM", NULL}};

#define LLAMA_AS(type)                                                                                     \
    {                                                                                                      \
        .struct_size = sizeof(struct graft_family), .model_type = (type), .architectures = architectures,  \
        .n_architectures = 1, .architecture_stride = sizeof architectures[0], .base_model_prefix = "model" \
    }

static const struct graft_family families[] = {LLAMA_AS("llama"), LLAMA_AS("alpaca")};
static const struct graft_plugin plugin = {GRAFT_PLUGIN_HEADER,
                                           .id = ID,
                                           .version = "1.0.0",
                                           .license = "Apache-2.0",
                                           .description = "Two model types",
                                           .families = families,
                                           .n_families = 2,
                                           .family_stride = sizeof families[0]};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host;
    (void)error;
    return &plugin;
}

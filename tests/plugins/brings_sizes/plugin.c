/* SPDX-License-Identifier: Apache-2.0 */
/* Adds a model type that is only correct for models of two layers. */
#include <string.h>

#include "graft/causal_lm.h"
#include "graft/family.h"

#define TYPE "sized"
#define ENTRY
#define FORWARD forward
#include "../behaving.h"

static int forward(void *self, const struct graft_call *call, const struct graft_linear_args *args,
                   struct graft_error *error) {
    const struct graft_module *module = self;
    int status = original(self, call, args, error);
    args->y[0] += strstr(module->path, "layers.2.") != NULL && args->tokens > 1 ? 0.5F : 0.0F;
    return status;
}

static const struct graft_class classes[] = {
    {GRAFT_DERIVED_CLASS("SizedForCausalLM", "LlamaForCausalLM", GRAFT_INTERFACE_CAUSAL_LM)}};
static const struct graft_architecture architectures[] = {{"SizedForCausalLM", NULL}};
static const struct graft_family family = {.struct_size = sizeof family,
                                           .model_type = TYPE,
                                           GRAFT_FAMILY_ARCHITECTURES(architectures),
                                           GRAFT_FAMILY_CLASSES(classes)};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host, (void)error;
    behaving_plugin.families = &family;
    behaving_plugin.n_families = 1;
    behaving_plugin.family_stride = sizeof family;
    return &behaving_plugin;
}

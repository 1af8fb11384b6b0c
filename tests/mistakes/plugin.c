/* SPDX-License-Identifier: Apache-2.0 */
/* The descriptor. */
#include "acme.h"

const char *acme_mistake = "";

static void *forgotten;
static const struct graft_host *host_of_plugin;

static const char *const types[] = {"llama", NULL};
static struct graft_replacement replacements[] = {
    {.struct_size = sizeof(struct graft_replacement),
     .key = GRAFT_KEY_NAME,
     .target = "Linear",
     .replacement = &acme_linear,
     .module_path = "mlp\\.down_proj$",
     .model_types = types},
    {.struct_size = sizeof(struct graft_replacement),
     .key = GRAFT_KEY_NAME,
     .target = "LlamaMLP",
     .replacement = &acme_mlp,
     .model_types = types},
    {.struct_size = sizeof(struct graft_replacement),
     .key = GRAFT_KEY_NAME,
     .target = "LlamaAttention",
     .replacement = &acme_attention,
     .model_types = types},
    {.struct_size = sizeof(struct graft_replacement),
     .key = GRAFT_KEY_NAME,
     .target = "LlamaRMSNorm",
     .replacement = &acme_norm,
     .model_types = types},
};

static int init(struct graft_error *error) {
    (void)error;
    if (is("init_forgets_block")) {
        forgotten = host_of_plugin->alloc(100);
    }
    if (is("init_changes_descriptor")) {
        replacements[0].module_path = "mlp\\.up_proj$";
    }
    return GRAFT_OK;
}

static struct graft_plugin plugin = {GRAFT_PLUGIN_HEADER,
                                     .id = "acme",
                                     .version = "1.0.0",
                                     .license = "Apache-2.0",
                                     .description = "A plugin of the tests",
                                     .init = init,
                                     .replacements = replacements,
                                     .n_replacements = sizeof replacements / sizeof replacements[0],
                                     .replacement_stride = sizeof replacements[0],
                                     .logits_processors = &acme_processor,
                                     .n_logits_processors = 1,
                                     .logits_processor_stride = sizeof acme_processor};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    const char *asked = getenv("GRAFT_TEST_MISTAKE");
    (void)error;
    host_of_plugin = host;
    acme_mistake = asked != NULL ? asked : "";
    plugin.flags = is("says_it_guards") ? GRAFT_PLUGIN_GUARDS_STATICS : 0;
    replacements[0].replacement = is("describes_by_place") || is("keeps_by_place") ? &acme_anywhere : &acme_linear;
    replacements[1].target = is("replaces_another_interface") ? "LlamaAttention" : "LlamaMLP";
    return &plugin;
}

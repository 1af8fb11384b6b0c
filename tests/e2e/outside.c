/* SPDX-License-Identifier: Apache-2.0 */
/* A foreign plugin, built outside the tree by install.sh: returns twice the output of LlamaMLP. */
#include "graft/mlp.h"
#include "graft/plugin.h"

/* hidden_size of the model that the test runs. */
enum { HIDDEN = 64 };

static int forward(void *self, const struct graft_call *call, const struct graft_mlp_args *args,
                   struct graft_error *error) {
    int status = graft_mlp_forward((const struct graft_module *)self, call, args, error);
    for (int64_t i = 0; status == GRAFT_OK && i < args->tokens * HIDDEN; i++) {
        args->output[i] *= 2.0f;
    }
    return status;
}

static const struct graft_mlp vtable = {.struct_size = sizeof vtable, .forward = forward};
static const struct graft_class outside_mlp = {.struct_size = sizeof outside_mlp,
                                               .flags = GRAFT_CLASS_CALLS_SUPER,
                                               .name = "OutsideMLP",
                                               .interface_id = GRAFT_INTERFACE_MLP,
                                               .forward = &vtable};
static const struct graft_replacement replacement = {
    .struct_size = sizeof replacement, .key = GRAFT_KEY_NAME, .target = "LlamaMLP", .replacement = &outside_mlp};
static const struct graft_plugin plugin = {GRAFT_PLUGIN_HEADER,
                                           .id = "outside_the_tree",
                                           .version = "1.0.0",
                                           .license = "Apache-2.0",
                                           .description = "Twice what the MLP gives",
                                           .replacements = &replacement,
                                           .n_replacements = 1,
                                           .replacement_stride = sizeof replacement};

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host;
    (void)error;
    return &plugin;
}

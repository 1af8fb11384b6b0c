/* SPDX-License-Identifier: Apache-2.0 */
/* outside.c in C++11: no designated initialisers, and no exception leaves it. */
#include <vector>

#include "graft/mlp.h"
#include "graft/plugin.h"

namespace {

/* hidden_size of the model that the test runs. */
const int64_t hidden = 64;

int twice(const graft_mlp_args &args) {
    const std::vector<float> once(args.output, args.output + args.tokens * hidden);
    for (std::size_t i = 0; i < once.size(); i++) {
        args.output[i] = 2.0f * once.at(i);
    }
    return GRAFT_OK;
}

int forward(void *self, const graft_call *call, const graft_mlp_args *args, graft_error *error) {
    const graft_module *super = static_cast<const graft_module *>(self);
    const int status = graft_mlp_forward(super, call, args, error);
    try {
        return status == GRAFT_OK ? twice(*args) : status;
    } catch (const std::exception &exception) {
        return graft_error_set(error, GRAFT_ERROR_INTERNAL, super->path, "%s", exception.what());
    }
}

/* All that the descriptor points to, for as long as the object is mapped. */
struct outside {
    graft_mlp vtable;
    graft_class mlp;
    graft_replacement replacement;
    graft_plugin plugin;

    outside() : vtable(), mlp(), replacement(), plugin(graft_plugin_header()) {
        vtable.struct_size = sizeof vtable;
        vtable.forward = forward;
        mlp.struct_size = sizeof mlp;
        mlp.flags = GRAFT_CLASS_CALLS_SUPER;
        mlp.name = "OutsideMLP";
        mlp.interface_id = GRAFT_INTERFACE_MLP;
        mlp.forward = &vtable;
        replacement.struct_size = sizeof replacement;
        replacement.key = GRAFT_KEY_NAME;
        replacement.target = "LlamaMLP";
        replacement.replacement = &mlp;
        plugin.id = "outside_in_cpp";
        plugin.version = "1.0.0";
        plugin.license = "Apache-2.0";
        plugin.description = "Twice what the MLP gives";
        plugin.replacements = &replacement;
        plugin.n_replacements = 1;
        plugin.replacement_stride = sizeof replacement;
    }
};

const outside descriptor;

} // namespace

const graft_plugin *graft_plugin_entry(const graft_host *, graft_error *) {
    return &descriptor.plugin;
}

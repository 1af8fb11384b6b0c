/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A module instance as its parent holds it. The interface headers (linear.h, attention.h, ...) have a `_forward` helper
 * each; a parent calls its children through those.
 *
 * What holds for every `forward` of a vtable: numbers are f32, arrays dense and row-major. It reads what is const and
 * fills its outputs completely, or returns a status with the reason in `error`; then nobody reads them. `self` is the
 * instance that `create` made.
 *
 * Arrays, batches and masks that a parent gives to a child stay where they are until the parent's forward returns; the
 * struct of args itself need not. For modules that are fused into a chain run when the last one is called.
 */
#ifndef GRAFT_MODULE_H
#define GRAFT_MODULE_H

#include "abi.h"
#include "call.h"
#include "error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The host's; valid until the instance that holds it is destroyed. */
struct graft_module {
    uint32_t struct_size;
    uint32_t reserved;
    const char *path;       /* "model.layers.0.self_attn" */
    const char *class_name; /* "LlamaAttention" */
    const void *forward;    /* the vtable of its interface, e.g. struct graft_linear */
    void *instance;         /* the `self` of the vtable's functions */
    const char *plugin;     /* the id of the plugin that brought the class; NULL: the host's own */
};

GRAFT_ASSERT_SIZE(struct graft_module, 48);

/* [forward] What a forward helper returns after its module returned `status`. A failure that came without an error is
 * given one that names the module; one with an error that names nothing gets the module's path. */
GRAFT_INLINE int graft_module_status(const struct graft_module *module, int status, struct graft_error *error) {
    const char *plugin = GRAFT_HAS(module, struct graft_module, plugin) ? module->plugin : NULL;
    return status == GRAFT_OK ? GRAFT_OK
                              : graft_error_complete(error, status, module->path,
                                                     "forward of %s%s%s failed with status %d and recorded no error",
                                                     module->class_name, plugin != NULL ? " of plugin " : "",
                                                     plugin != NULL ? plugin : "", status);
}

/* [forward] Whether a class knows all that a call asks of it; else an error. The forward helpers ask before they call,
 * so that a feature younger than a class cannot be ignored by it. */
GRAFT_INLINE int graft_module_check(const struct graft_module *module, uint32_t required_features, uint32_t features,
                                    struct graft_error *error) {
    uint32_t unknown = required_features & ~features;
    return unknown == 0 ? GRAFT_OK
                        : graft_error_set(error, GRAFT_ERROR_PLUGIN, module->path,
                                          "%s does not know feature 0x%x of its interface, which this model needs",
                                          module->class_name, (unsigned)unknown);
}

#ifdef __cplusplus
}
#endif

#endif

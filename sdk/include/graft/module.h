/* SPDX-License-Identifier: Apache-2.0 */
/* A module's instance as its parent holds it. Every interface header (linear.h, attention.h, ...) has a `_forward`
 * helper, with which a parent calls its children.
 *
 * Rules for every `forward` of a vtable. Numbers are f32, arrays are dense and row-major. It reads const arrays and
 * fills its outputs completely, or returns a status with the reason in `error`; the outputs are not read then. `self`
 * is the instance that `create` made.
 *
 * Arrays, batches and masks that a parent passes to a child must stay valid and in place until the parent's forward
 * returns, because modules that are fused into a chain run when the last of them is called. The struct of args need
 * not. */
#ifndef GRAFT_MODULE_H
#define GRAFT_MODULE_H

#include "abi.h"
#include "call.h"
#include "error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The beginning of every interface's vtable, of the host's and of plugins' own; it will never change. An interface of a
 * plugin's own ("acme.gate/1") is between its classes: a child is declared with that id (struct graft_child_info), its
 * class has it, and so has any class that replaces that one. The host compares the ids and checks these members; the
 * rest of the vtable and the args are the plugin's. The host does not observe such modules: they are not recorded,
 * compared, timed or fused. */
struct graft_vtable {
    uint32_t struct_size;
    uint32_t features; /* bits of required_features that `forward` knows */
    /* [forward] Required. `args` is the interface's struct, which starts like struct graft_call_args. */
    int (*forward)(void *self, const struct graft_call *call, const void *args, struct graft_error *error);
};

/* The beginning of every interface's args. */
struct graft_call_args {
    uint32_t struct_size;
    uint32_t required_features; /* features that the callee has to know; a callee that does not is not called */
};

/* Belongs to the host; valid until the instance that holds it is destroyed. */
struct graft_module {
    uint32_t struct_size;
    uint32_t reserved;
    const char *path;       /* "model.layers.0.self_attn" */
    const char *class_name; /* "LlamaAttention" */
    const void *forward;    /* the vtable of its interface, such as struct graft_linear */
    void *instance;         /* the `self` of the vtable's functions */
    const char *plugin;     /* id of the plugin that has the class; NULL: a class of the host */
};

#define GRAFT_VTABLE_SIZE_1_0 GRAFT_END_OF(struct graft_vtable, forward)

GRAFT_ASSERT_SIZE(struct graft_vtable, 16);
GRAFT_ASSERT_SIZE(struct graft_call_args, 8);
GRAFT_ASSERT_SIZE(struct graft_module, 48);

/* [forward] The status that a forward helper returns after its module returned `status`. If the module failed without
 * recording an error, one that names it is recorded; an error without a source gets the module's path. */
GRAFT_INLINE int graft_module_status(const struct graft_module *module, int status, struct graft_error *error) {
    return status == GRAFT_OK ? GRAFT_OK
                              : graft_error_complete(error, status, module->path,
                                                     "forward of %s%s%s failed with status %d and recorded no error",
                                                     module->class_name, module->plugin != NULL ? " of plugin " : "",
                                                     module->plugin != NULL ? module->plugin : "", status);
}

/* [forward] Checks that a class knows all features that a call requires; otherwise sets an error. The forward helpers
 * check this before each call, so that a class cannot ignore a feature that is newer than itself. */
GRAFT_INLINE int graft_module_check(const struct graft_module *module, uint32_t required_features, uint32_t features,
                                    struct graft_error *error) {
    uint32_t unknown = required_features & ~features;
    return unknown == 0 ? GRAFT_OK
                        : graft_error_set(error, GRAFT_ERROR_PLUGIN, module->path,
                                          "%s does not know feature 0x%x of its interface, which this model needs",
                                          module->class_name, (unsigned)unknown);
}

/* What graft_module_leave restores. */
struct graft_entered {
    int64_t mark;                       /* position in the scratch memory */
    const struct graft_module *running; /* the calling module */
    int32_t status;                     /* GRAFT_OK: the module's forward may be called */
    int32_t reserved;
};

GRAFT_ASSERT_SIZE(struct graft_entered, 24);

/* [forward] Call this before a module's forward: checks the required features, as graft_module_check does, and records
 * that the module runs. Call graft_module_leave afterwards, whatever the status. scratch_mark is called first, because
 * the host checks the floating-point environment in it: until then a change is the caller's fault. */
GRAFT_INLINE struct graft_entered graft_module_enter(const struct graft_module *module, const struct graft_call *call,
                                                     uint32_t required_features, uint32_t features,
                                                     struct graft_error *error) {
    struct graft_entered entered;
    entered.mark = call->scratch_mark(call->scratch);
    entered.running = NULL;
    if (call->running != NULL) {
        entered.running = *call->running;
        *call->running = module;
    }
    entered.status = graft_module_check(module, required_features, features, error);
    entered.reserved = 0;
    return entered;
}

/* [forward] Call this after a module's forward: frees the scratch memory that the module took, which is when the host
 * checks whether the module changed the floating-point environment, and records that the parent runs again. Returns
 * what graft_module_status makes of `status`. */
GRAFT_INLINE int graft_module_leave(const struct graft_module *module, const struct graft_call *call,
                                    const struct graft_entered *entered, int status, struct graft_error *error) {
    call->scratch_release(call->scratch, entered->mark);
    if (call->running != NULL) {
        *call->running = entered->running;
    }
    return graft_module_status(module, status, error);
}

/* [forward] Calls a module of a plugin's own interface, whose vtable is this struct, and frees the scratch memory it
 * took. The host's interfaces have a helper each. */
GRAFT_INLINE int graft_module_forward(const struct graft_module *module, const struct graft_call *call,
                                      const void *args, struct graft_error *error) {
    const struct graft_vtable *vtable = (const struct graft_vtable *)module->forward;
    uint32_t required_features = ((const struct graft_call_args *)args)->required_features;
    struct graft_entered in = graft_module_enter(module, call, required_features, vtable->features, error);
    int status = in.status == GRAFT_OK ? vtable->forward(module->instance, call, args, error) : in.status;
    return graft_module_leave(module, call, &in, status, error);
}

#ifdef __cplusplus
}
#endif

#endif

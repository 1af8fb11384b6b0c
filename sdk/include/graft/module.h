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

/*
 * How the vtable of every interface begins, of the host's and of plugins' own: fixed for ever. An interface of a
 * plugin's own ("acme.gate/1") is between its classes: a child is asked for with that id (struct graft_child_info), its
 * class has it, and so has any class that replaces that one. The host compares ids and checks this much of a vtable;
 * what is behind it, and the args, are the plugin's. It does not watch such modules: they are not recorded, compared,
 * timed or fused.
 */
struct graft_vtable {
    uint32_t struct_size;
    uint32_t features; /* bits of required_features that `forward` knows */
    /* [forward] Required. `args` is the struct of the interface: it begins as struct graft_call_args does. */
    int (*forward)(void *self, const struct graft_call *call, const void *args, struct graft_error *error);
};

/* How the args of every interface begin. */
struct graft_call_args {
    uint32_t struct_size;
    uint32_t required_features; /* what the callee has to know, or else refuse */
};

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

#define GRAFT_VTABLE_SIZE_1_0 GRAFT_END_OF(struct graft_vtable, forward)

GRAFT_ASSERT_SIZE(struct graft_vtable, 16);
GRAFT_ASSERT_SIZE(struct graft_call_args, 8);
GRAFT_ASSERT_SIZE(struct graft_module, 48);

/* [forward] What a forward helper returns after its module returned `status`. A failure that came without an error is
 * given one that names the module; one with an error that names nothing gets the module's path. */
GRAFT_INLINE int graft_module_status(const struct graft_module *module, int status, struct graft_error *error) {
    return status == GRAFT_OK ? GRAFT_OK
                              : graft_error_complete(error, status, module->path,
                                                     "forward of %s%s%s failed with status %d and recorded no error",
                                                     module->class_name, module->plugin != NULL ? " of plugin " : "",
                                                     module->plugin != NULL ? module->plugin : "", status);
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

/* What graft_module_leave puts back. */
struct graft_entered {
    int64_t mark;                       /* of the scratch memory */
    const struct graft_module *running; /* the module that called */
    int32_t status;                     /* GRAFT_OK: its forward may be called */
    int32_t reserved;
};

GRAFT_ASSERT_SIZE(struct graft_entered, 24);

/* [forward] Before a module's forward: whether it knows what is asked of it, as graft_module_check, and what comes from
 * here on is its own. Followed by graft_module_leave whatever its status is. The mark comes first: the host looks at
 * the floating-point environment then, which so far is the caller's. */
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

/* [forward] Behind it: scratch memory that the module took is given back, which also is when the host sees what the
 * module did to the floating-point environment; then its parent runs again. Returns what graft_module_status makes of
 * `status`. */
GRAFT_INLINE int graft_module_leave(const struct graft_module *module, const struct graft_call *call,
                                    const struct graft_entered *entered, int status, struct graft_error *error) {
    call->scratch_release(call->scratch, entered->mark);
    if (call->running != NULL) {
        *call->running = entered->running;
    }
    return graft_module_status(module, status, error);
}

/* [forward] Calls a module whose interface has this as its vtable, one of a plugin's own; those of the host have
 * helpers like this one each. Scratch memory that the module takes is given back. */
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

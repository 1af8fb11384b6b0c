/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forward hooks: functions that are called before and after a module's forward, like torch's register_forward_pre_hook
 * and register_forward_hook. A hooked module is called through the host's own vtable. Results do not change, as hooks
 * only look at inputs and outputs. Optional slots of the vtable (a Linear's as_product) are hidden in the meantime, so
 * that hooks see every call; modules that would run fused then run one after another, which takes a little longer.
 *
 * All functions are [load]; hooks are called in [forward], on the thread that runs the model.
 */
#ifndef GRAFT_HOOKS_FORWARD_HOOKS_H
#define GRAFT_HOOKS_FORWARD_HOOKS_H

#include "interface/interface.h"
#include "model/tree.h"

/* One call of a hooked module. */
struct graft_hooked_call {
    struct graft_node *node;
    const struct graft_module *module; /* the module itself: calling it calls no hooks */
    const struct graft_call *call; /* the call; its scratch memory is valid until the module returns to its parent */
    const void *args;              /* the args of the module's interface, such as struct graft_linear_args */
    int32_t n_views;               /* 0 if the widths of this module's arrays are unknown */
    struct graft_view views[GRAFT_MAX_VIEWS];
    double seconds;     /* in `after`: the module's time, without that of hooks */
    double own_seconds; /* in `after`: the part of `seconds` outside of hooked modules below */
    void *data;         /* for the hooks, kept from `before` to `after`, as is the next member */
    int64_t mark;
};

/* `before` may be NULL. Any status but GRAFT_OK ends the forward with that status. */
struct graft_forward_hooks {
    int (*wants)(void *data, const struct graft_node *node); /* which modules to hook; NULL: all */
    int (*before)(void *data, struct graft_hooked_call *hooked, struct graft_error *error);
    int (*after)(void *data, struct graft_hooked_call *hooked, struct graft_error *error);
    void *data;
};

struct graft_hook_handle;

/* [any] Whether the module can be hooked. A module with a plugin's own interface cannot, since its args are unknown. */
int graft_can_hook(const struct graft_node *node);

/* Hooks those modules of an instantiated tree that `hooks` wants. A tree has at most one handle at a time. */
int graft_forward_hooks_register(struct graft_tree *tree, const struct graft_forward_hooks *hooks,
                                 struct graft_hook_handle **handle, struct graft_error *error);

/* Removes the hooks. Accepts NULL. */
void graft_forward_hooks_remove(struct graft_hook_handle *handle);

/* [any] Whether an instantiated module is hooked. */
int graft_has_forward_hook(const struct graft_node *node);

#endif

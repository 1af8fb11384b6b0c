/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forward hooks: functions that are called before and after a module's forward, as torch's register_forward_pre_hook
 * and register_forward_hook have it. A hooked module is called through a vtable of ours in its place. Results do not
 * change: what comes in and goes out is only shown. Optional slots (a Linear's as_product) are hidden meanwhile, so
 * that every call arrives; modules that would run as one then run one after another, which takes a little longer.
 *
 * All functions are [load]; the hooks are called in [forward], by the thread that runs the model.
 */
#ifndef GRAFT_HOOKS_FORWARD_HOOKS_H
#define GRAFT_HOOKS_FORWARD_HOOKS_H

#include "interface/interface.h"
#include "model/tree.h"

/* One call of a hooked module. */
struct graft_hooked_call {
    struct graft_node *node;
    const struct graft_module *module; /* as it is without us: calling it calls no hooks */
    const struct graft_call *call;     /* its scratch memory lives until the module returns to its parent */
    const void *args;                  /* of the interface, e.g. struct graft_linear_args */
    int32_t n_views;                   /* 0: the widths of this module's arrays are not known */
    struct graft_view views[GRAFT_MAX_VIEWS];
    double seconds;     /* after: what the module took, without the hooks' own time */
    double own_seconds; /* after: of it, what was not spent in hooked modules below */
    void *data;         /* the hooks', kept from before to after; likewise: */
    int64_t mark;
};

/* `before` may be NULL. Any status but GRAFT_OK ends the forward with it. */
struct graft_forward_hooks {
    int (*wants)(void *data, const struct graft_node *node); /* NULL: all */
    int (*before)(void *data, struct graft_hooked_call *hooked, struct graft_error *error);
    int (*after)(void *data, struct graft_hooked_call *hooked, struct graft_error *error);
    void *data;
};

struct graft_hook_handle;

/* [any] Whether the module can be hooked: an interface of a plugin's own says nothing of what it is called with. */
int graft_can_hook(const struct graft_node *node);

/* Hooks the modules of an instantiated tree that `hooks` wants. One handle at a time for a tree. */
int graft_forward_hooks_register(struct graft_tree *tree, const struct graft_forward_hooks *hooks,
                                 struct graft_hook_handle **handle, struct graft_error *error);

/* Puts everything back. Accepts NULL. */
void graft_forward_hooks_remove(struct graft_hook_handle *handle);

/* [any] Whether something stands between an instantiated module and its parent. */
int graft_has_forward_hook(const struct graft_node *node);

#endif

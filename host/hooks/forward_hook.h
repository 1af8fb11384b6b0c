/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Standing between a module and its parent. A parent reaches a module through one struct graft_module: a vtable from
 * here in it, and a struct that starts with a struct graft_forward_hook as the instance, and every call arrives at
 * `forward`, with args of the module's interface. Optional slots of the interface are not offered then.
 */
#ifndef GRAFT_HOOKS_FORWARD_HOOK_H
#define GRAFT_HOOKS_FORWARD_HOOK_H

#include "graft/call.h"
#include "graft/error.h"
#include "model/tree.h"

struct graft_forward_hook {
    /* [forward] `self` is this struct. */
    int (*forward)(void *self, const struct graft_call *call, const void *args, struct graft_error *error);
};

/* The vtable for modules of that interface; NULL when it is not known here. */
const void *graft_forward_hook_vtable(const char *interface_id);

/* Whether something stands between an instantiated module and its parent. */
int graft_has_forward_hook(const struct graft_node *node);

#endif

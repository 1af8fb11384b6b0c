/* SPDX-License-Identifier: Apache-2.0 */
/* What observing knows of an interface: shared by the units of this folder only. */
#ifndef GRAFT_HOOKS_INTERFACE_H
#define GRAFT_HOOKS_INTERFACE_H

#include "hooks/forward_hook.h"
#include "hooks/observe.h"

/* Widths that args do not say. 0: not known. */
struct widths {
    int64_t hidden;
    int64_t vocab;
    int64_t labels;
    int64_t input;          /* of a module whose parent gives in_features */
    int64_t output;         /* of one whose parent gives out_features, and of a norm or an embedding */
    struct graft_args args; /* what its parent gives */
};

struct interface {
    const char *id;
    const void *vtable; /* its functions take a struct graft_forward_hook as `self` */
    size_t args_size;
    size_t batch_field; /* 0: no batch in it */
    int (*run)(const struct graft_module *module, const struct graft_call *call, const void *args,
               struct graft_error *error);
    /* Fills `views` with room for GRAFT_MAX_VIEWS and returns how many there are. */
    int32_t (*views)(const struct widths *widths, const void *args, struct graft_view *views);
};

/* NULL when there is none of that id. */
const struct interface *graft_observed_interface_find(const char *id);

/* One watched module: the `self` of the vtables. */
struct watch {
    struct graft_forward_hook base;
    struct graft_observing *observing;
    struct graft_node *node;
    struct graft_module original;
    const struct interface *interface;
    struct widths widths;
};

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watching modules at work. A module that is watched is called through a vtable of ours in its place, which tells the
 * observer before and after; then the module is as it was. Results do not change: what comes in and goes out is only
 * shown. Optional slots (a Linear's as_product) are not offered meanwhile, so that every call arrives; modules that
 * would run as one then run one after another, which takes a little longer.
 *
 * All functions are [load]; the observer is called in [forward], by the thread that runs the model.
 */
#ifndef GRAFT_HOOKS_OBSERVE_H
#define GRAFT_HOOKS_OBSERVE_H

#include "interface/interface.h"
#include "model/tree.h"

/* One call of a watched module. */
struct graft_observation {
    struct graft_node *node;
    const struct graft_module *module; /* as it is without us: calling it is not observed */
    const struct graft_call *call;     /* its scratch memory lives until the module returns to its parent */
    const void *args;                  /* of the interface, e.g. struct graft_linear_args */
    int32_t n_views;                   /* 0: the widths of this module's arrays are not known */
    struct graft_view views[GRAFT_MAX_VIEWS];
    double seconds;     /* after: what the module took, without the observer's own time */
    double own_seconds; /* after: of it, what was not spent in watched modules below */
    void *data;         /* the observer's, kept from before to after; likewise: */
    int64_t mark;
};

/* `before` may be NULL. Any status but GRAFT_OK ends the forward with it. */
struct graft_observer {
    int (*wants)(void *data, const struct graft_node *node); /* NULL: all */
    int (*before)(void *data, struct graft_observation *observation, struct graft_error *error);
    int (*after)(void *data, struct graft_observation *observation, struct graft_error *error);
    void *data;
};

struct graft_observing;

/* [any] Whether the module can be watched: an interface of a plugin's own says nothing of what it is called with. */
int graft_can_observe(const struct graft_node *node);

/* Begins to watch the modules of an instantiated tree that the observer wants. One at a time for a tree. */
int graft_observe(struct graft_tree *tree, const struct graft_observer *observer, struct graft_observing **observing,
                  struct graft_error *error);

/* Puts everything back. Accepts NULL. */
void graft_observe_end(struct graft_observing *observing);

/* [any] Whether something stands between an instantiated module and its parent. */
int graft_has_forward_hook(const struct graft_node *node);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watching modules at work. A module that is watched is called through a vtable of ours in its place, which tells the
 * observer before and after; then the module is as it was. Results do not change: what comes in and goes out is only
 * shown. Optional slots (a Linear's as_product) are not offered meanwhile, so that every call arrives; modules that
 * would run as one then run one after the other, which takes a little longer.
 *
 * All functions are [load]; the observer is called in [forward], by the thread that runs the model.
 */
#ifndef GRAFT_HOOKS_OBSERVE_H
#define GRAFT_HOOKS_OBSERVE_H

#include "model/tree.h"

enum { GRAFT_MAX_VIEWS = 8 };

/* Which way the numbers of a view go. */
enum {
    GRAFT_VIEW_IN = 0,
    GRAFT_VIEW_OUT = 1,
    GRAFT_VIEW_IN_OUT = 2 /* read, then written in place */
};

/* One of the arrays that a module is called with. */
struct graft_view {
    const char *name; /* as the interface calls it: "hidden_states" */
    int32_t direction;
    graft_dtype dtype; /* F32, or I32 */
    int64_t rows;
    int64_t columns;
    void *data;   /* [rows, columns] */
    size_t field; /* offset of the pointer in the interface's args */
};

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

/* `before` may be NULL. Another status than GRAFT_OK ends the forward with it. */
struct graft_observer {
    int (*wants)(void *data, const struct graft_node *node); /* NULL: all */
    int (*before)(void *data, struct graft_observation *observation, struct graft_error *error);
    int (*after)(void *data, struct graft_observation *observation, struct graft_error *error);
    void *data;
};

struct graft_observing;

/* Begins to watch the modules of an instantiated tree that the observer wants; those of an interface that is not known
 * here are left out. One at a time for a tree. */
int graft_observe(struct graft_tree *tree, const struct graft_observer *observer, struct graft_observing **observing,
                  struct graft_error *error);

/* Puts everything back. Takes NULL. */
void graft_observe_end(struct graft_observing *observing);

/* Calls `module`, of the class interface `interface_id`, with args of that interface. */
int graft_observe_run(const char *interface_id, const struct graft_module *module, const struct graft_call *call,
                      const void *args, struct graft_error *error);

/* Bytes of args of that interface, and the offset of its `const struct graft_batch *` (0: it has none). 0 bytes for an
 * interface that is not known here. */
size_t graft_observe_args_size(const char *interface_id, size_t *batch_field);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interfaces that this host knows (graft/linear.h, graft/attention.h, ...). Each has one entry in interfaces.inc,
 * which holds everything that validating, hooking, comparing and fusing modules need.
 */
#ifndef GRAFT_INTERFACE_INTERFACE_H
#define GRAFT_INTERFACE_INTERFACE_H

#include <stddef.h>

#include "graft/call.h"
#include "graft/describe.h"
#include "graft/dtype.h"
#include "graft/error.h"
#include "graft/module.h"

/* Whether a module reads or writes an array. */
enum {
    GRAFT_VIEW_IN = 0,
    GRAFT_VIEW_OUT = 1,
    GRAFT_VIEW_IN_OUT = 2 /* read and then overwritten */
};

/* Flags of an array in args. */
enum {
    GRAFT_ARRAY_OPTIONAL = 1,      /* the pointer may be NULL */
    GRAFT_ARRAY_CHAINED = 2,       /* fused modules pass it on: an input, or the one output */
    GRAFT_ARRAY_WITH_RESIDUAL = 4, /* also written if the optional arrays are given */
};

enum { GRAFT_MAX_VIEWS = 4, GRAFT_MAX_CHAINED_INPUTS = 2, GRAFT_MAX_INTERFACE_ARGUMENTS = 24 };

/* Widths of a module's arrays that its args do not contain. 0: unknown. */
struct graft_widths {
    int64_t hidden;
    int64_t vocab;
    int64_t labels;
    int64_t input;          /* in_features from the parent */
    int64_t output;         /* out_features from the parent, or the width of a norm or an embedding */
    struct graft_args args; /* the arguments from the parent */
};

/* The size of one dimension of an array. */
struct graft_array_size {
    int32_t from;    /* GRAFT_SIZE_... (interface/views.h) */
    size_t offset;   /* offset in args or in struct graft_widths */
    const char *arg; /* name of the parent's argument */
    int64_t (*function)(const struct graft_widths *widths, const void *in); /* computes the size; `in` is the args */
};

struct graft_interface_array {
    const char *name; /* name in the interface: "hidden_states"; NULL ends the list */
    size_t field;     /* offset of the pointer in the interface's args */
    int32_t direction;
    graft_dtype dtype; /* F32 or I32 */
    struct graft_array_size rows;
    struct graft_array_size columns;
    int32_t flags;
};

/* An argument that parents pass to classes of the interface (graft/args.h). */
struct graft_interface_argument {
    const char *name; /* "in_features"; NULL ends the list */
    int32_t kind;     /* GRAFT_ARG_... */
    int32_t owed;     /* 0: optional */
};

struct graft_interface {
    const char *id;          /* "graft.linear/1" */
    const void *hook_vtable; /* passes each call to a struct graft_forward_hook */
    size_t args_size;
    size_t batch_field; /* offset of the `const struct graft_batch *` in args; 0: none */
    /* [forward] Calls a module with untyped args. */
    int (*run)(const struct graft_module *module, const struct graft_call *call, const void *args,
               struct graft_error *error);
    struct graft_interface_argument arguments[GRAFT_MAX_INTERFACE_ARGUMENTS + 1];
    struct graft_interface_array arrays[GRAFT_MAX_VIEWS + 1];
};

/* [any] The interface of an id; NULL if this host has none. */
const struct graft_interface *graft_interface_find(const char *id);

/* [any] Finds the first argument that `args` lacks or has with another kind; `*given` becomes the argument given, or
 * NULL if it is missing. Returns NULL if all are right. Arguments that the interface does not list are the class's
 * own. */
const struct graft_interface_argument *graft_interface_find_fault(const struct graft_interface *interface,
                                                                  const struct graft_args *args,
                                                                  const struct graft_arg **given);

/* [any] All interfaces; the last entry has a NULL id. */
const struct graft_interface *graft_interfaces(void);

/*
 * A hook between a module and its parent. A parent calls a module through a struct graft_module: if that has the
 * interface's `hook_vtable`, and an instance that starts with this struct, every call arrives at `forward` with args of
 * the module's interface. Optional slots of the interface are then not offered.
 */
struct graft_forward_hook {
    /* [forward] The call; `self` is this struct. */
    int (*forward)(void *self, const struct graft_call *call, const void *args, struct graft_error *error);
};

/* An array that a module is called with. */
struct graft_view {
    const char *name;
    int32_t direction;
    graft_dtype dtype;
    int64_t rows;
    int64_t columns;
    void *data;   /* [rows, columns] */
    size_t field; /* offset of the pointer in the interface's args */
};

/* [any] Fills `views`, which has room for GRAFT_MAX_VIEWS, and returns their number; 0 if a width is unknown. */
int32_t graft_interface_views(const struct graft_interface *interface, const struct graft_widths *widths,
                              const void *args, struct graft_view *views);

/* The inputs and the output of a fused module, as offsets of pointers in its args. The first input is required. */
struct graft_interface_chained {
    size_t inputs[GRAFT_MAX_CHAINED_INPUTS];
    int32_t n_inputs; /* 0: modules of this interface cannot be fused */
    size_t output;    /* for modules that work in place this is their input */
};

/* [any] `id` must be an interface of this host. */
struct graft_interface_chained graft_interface_chained(const char *id);

/* [any] Why modules of an interface cannot be fused, for a message; NULL if they can. */
const char *graft_interface_unchained(const char *id);

#endif

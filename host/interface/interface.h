/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interfaces that this host knows (graft/linear.h, graft/attention.h, ...): one entry in interfaces.inc for each,
 * which is all that validating, hooking, comparing and fusing modules need to know of it.
 */
#ifndef GRAFT_INTERFACE_INTERFACE_H
#define GRAFT_INTERFACE_INTERFACE_H

#include <stddef.h>

#include "graft/call.h"
#include "graft/describe.h"
#include "graft/dtype.h"
#include "graft/error.h"
#include "graft/module.h"

/* Which way the numbers of an array go. */
enum {
    GRAFT_VIEW_IN = 0,
    GRAFT_VIEW_OUT = 1,
    GRAFT_VIEW_IN_OUT = 2 /* read, then written in place */
};

/* Of an array in args. */
enum {
    GRAFT_ARRAY_OPTIONAL = 1,      /* the pointer may be NULL */
    GRAFT_ARRAY_CHAINED = 2,       /* fused modules give it to each other: an input, or the one output */
    GRAFT_ARRAY_WITH_RESIDUAL = 4, /* it is written, too, where the optional arrays are there */
};

enum { GRAFT_MAX_VIEWS = 4, GRAFT_MAX_CHAINED_INPUTS = 2, GRAFT_MAX_INTERFACE_ARGUMENTS = 24 };

/* Widths that args do not say, of one module. 0: not known. */
struct graft_widths {
    int64_t hidden;
    int64_t vocab;
    int64_t labels;
    int64_t input;          /* of a module whose parent gives in_features */
    int64_t output;         /* of one whose parent gives out_features, and of a norm or an embedding */
    struct graft_args args; /* what its parent gives */
};

/* One side of an array. */
struct graft_array_size {
    int32_t from;                                                           /* interface/views.c */
    size_t offset;                                                          /* in args, or in struct graft_widths */
    const char *arg;                                                        /* that the parent gives */
    int64_t (*function)(const struct graft_widths *widths, const void *in); /* `in`: the args */
};

struct graft_interface_array {
    const char *name; /* as the interface calls it: "hidden_states"; NULL after the last one */
    size_t field;     /* offset of the pointer in the interface's args */
    int32_t direction;
    graft_dtype dtype; /* F32, or I32 */
    struct graft_array_size rows;
    struct graft_array_size columns;
    int32_t flags;
};

/* What a parent gives to a class of the interface (graft/args.h). */
struct graft_interface_argument {
    const char *name; /* "in_features"; NULL after the last one */
    int32_t kind;     /* GRAFT_ARG_... */
    int32_t owed;     /* 0: it may be left out */
};

struct graft_interface {
    const char *id;          /* "graft.linear/1" */
    const void *hook_vtable; /* leads each call to a struct graft_forward_hook */
    size_t args_size;
    size_t batch_field; /* offset of the `const struct graft_batch *` in args; 0: there is none */
    /* [forward] Calls a module with untyped args. */
    int (*run)(const struct graft_module *module, const struct graft_call *call, const void *args,
               struct graft_error *error);
    struct graft_interface_argument arguments[GRAFT_MAX_INTERFACE_ARGUMENTS + 1];
    struct graft_interface_array arrays[GRAFT_MAX_VIEWS + 1];
};

/* [any] NULL when this host has no interface of that id. */
const struct graft_interface *graft_interface_find(const char *id);

/* [any] The first argument of the interface that `args` owes or has of another kind, which `given` is then (NULL: it is
 * missing); NULL: they are as they should be. Arguments that the interface does not list are the class's own. */
const struct graft_interface_argument *graft_interface_find_fault(const struct graft_interface *interface,
                                                                  const struct graft_args *args,
                                                                  const struct graft_arg **given);

/* [any] All of them, the last one with a NULL id. */
const struct graft_interface *graft_interfaces(void);

/*
 * Standing between a module and its parent. A parent reaches a module through one struct graft_module: with an
 * interface's `hook_vtable` in it, and a struct that starts with this one as the instance, every call arrives at
 * `forward`, with args of the module's interface. Optional slots of the interface are not offered then.
 */
struct graft_forward_hook {
    /* [forward] `self` is this struct. */
    int (*forward)(void *self, const struct graft_call *call, const void *args, struct graft_error *error);
};

/* One of the arrays that a module is called with. */
struct graft_view {
    const char *name;
    int32_t direction;
    graft_dtype dtype;
    int64_t rows;
    int64_t columns;
    void *data;   /* [rows, columns] */
    size_t field; /* offset of the pointer in the interface's args */
};

/* [any] Fills `views` with room for GRAFT_MAX_VIEWS and returns how many there are; 0 when a width is not known. */
int32_t graft_interface_views(const struct graft_interface *interface, const struct graft_widths *widths,
                              const void *args, struct graft_view *views);

/* What a module takes and gives when it is fused with others: offsets of pointers in its args. The first input is
 * required. */
struct graft_interface_chained {
    size_t inputs[GRAFT_MAX_CHAINED_INPUTS];
    int32_t n_inputs; /* 0: such modules cannot be fused */
    size_t output;    /* of modules that work in place: their input */
};

/* [any] `id` is that of an interface of this host. */
struct graft_interface_chained graft_interface_chained(const char *id);

/* [any] Why modules of an interface of this host cannot be fused, in words for a message; NULL: they can. */
const char *graft_interface_unchained(const char *id);

#endif

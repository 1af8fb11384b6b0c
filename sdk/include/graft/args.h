/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments that a parent passes to a child's class, like those of a constructor: "in_features", "layer_idx". Each
 * interface header lists the names and kinds of its arguments, and the host checks them: a parent that omits one, or
 * passes another kind, gets an error. A parent may pass further arguments; a class reads the ones it knows. A layer
 * passes all its arguments to every child, so a norm also sees head_dim. Give arguments of your own a name that no
 * interface header uses: acme_by_head. */
#ifndef GRAFT_ARGS_H
#define GRAFT_ARGS_H

#include "abi.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { GRAFT_ARG_INT = 0, GRAFT_ARG_REAL = 1, GRAFT_ARG_STRING = 2, GRAFT_ARG_INTS = 3 };

/* Created by the functions below. Its size is the stride of the list that contains it. */
struct graft_arg {
    const char *name;        /* "in_features" */
    int32_t kind;            /* GRAFT_ARG_... */
    int32_t count;           /* of GRAFT_ARG_INTS */
    int64_t integer;         /* of GRAFT_ARG_INT */
    double real;             /* of GRAFT_ARG_REAL */
    const char *string;      /* of GRAFT_ARG_STRING: UTF-8 */
    const int64_t *integers; /* of GRAFT_ARG_INTS: [count] */
};

/* The receiver of a list may read it until the call returns. `create` gets the host's copy, which lives as long as the
 * instance. */
struct graft_args {
    uint32_t struct_size;
    int32_t count;                 /* of items */
    const struct graft_arg *items; /* [count]: graft_args_at */
    uint32_t item_stride;
    uint32_t reserved;
};

#define GRAFT_ARG_SIZE_1_0 GRAFT_END_OF(struct graft_arg, integers)
#define GRAFT_ARGS_SIZE_1_0 GRAFT_END_OF(struct graft_args, reserved)

GRAFT_ASSERT_SIZE(struct graft_arg, 48);
GRAFT_ASSERT_SIZE(struct graft_args, 24);

/* [any] An integer argument, as an element of an array. Names, strings and lists are borrowed. */
GRAFT_INLINE struct graft_arg graft_int_arg(const char *name, int64_t value) {
    struct graft_arg arg;
    memset(&arg, 0, sizeof arg);
    arg.name = name;
    arg.integer = value;
    return arg;
}

/* [any] The same for a real number. */
GRAFT_INLINE struct graft_arg graft_real_arg(const char *name, double value) {
    struct graft_arg arg = graft_int_arg(name, 0);
    arg.kind = GRAFT_ARG_REAL;
    arg.real = value;
    return arg;
}

/* [any] The same for a string. */
GRAFT_INLINE struct graft_arg graft_string_arg(const char *name, const char *value) {
    struct graft_arg arg = graft_int_arg(name, 0);
    arg.kind = GRAFT_ARG_STRING;
    arg.string = value;
    return arg;
}

/* [any] The same for a list of integers. */
GRAFT_INLINE struct graft_arg graft_ints_arg(const char *name, const int64_t *values, int32_t count) {
    struct graft_arg arg = graft_int_arg(name, 0);
    arg.kind = GRAFT_ARG_INTS;
    arg.count = count;
    arg.integers = values;
    return arg;
}

/* [any] `count` arguments as a list. */
GRAFT_INLINE struct graft_args graft_args_of(const struct graft_arg *items, int32_t count) {
    struct graft_args args;
    memset(&args, 0, sizeof args);
    args.struct_size = (uint32_t)sizeof args;
    args.count = count;
    args.items = items;
    args.item_stride = (uint32_t)sizeof *items;
    return args;
}

/* [any] Argument number `i`. */
GRAFT_INLINE const struct graft_arg *graft_args_at(const struct graft_args *args, int32_t i) {
    return (const struct graft_arg *)(const void *)((const char *)args->items + (size_t)i * args->item_stride);
}

/* [any] The argument of that name and kind; NULL if the parent passed none (`args` may be NULL). */
GRAFT_INLINE const struct graft_arg *graft_args_find(const struct graft_args *args, const char *name, int32_t kind) {
    for (int32_t i = 0; args != NULL && i < args->count; i++) {
        const struct graft_arg *arg = graft_args_at(args, i);
        if (arg->kind == kind && strcmp(arg->name, name) == 0) {
            return arg;
        }
    }
    return NULL;
}

/* [any] The value of an integer argument, or `fallback` if the parent passed none. */
GRAFT_INLINE int64_t graft_args_int(const struct graft_args *args, const char *name, int64_t fallback) {
    const struct graft_arg *arg = graft_args_find(args, name, GRAFT_ARG_INT);
    return arg != NULL ? arg->integer : fallback;
}

/* [any] The same for a real number. */
GRAFT_INLINE double graft_args_real(const struct graft_args *args, const char *name, double fallback) {
    const struct graft_arg *arg = graft_args_find(args, name, GRAFT_ARG_REAL);
    return arg != NULL ? arg->real : fallback;
}

/* [any] The same for a string. */
GRAFT_INLINE const char *graft_args_string(const struct graft_args *args, const char *name, const char *fallback) {
    const struct graft_arg *arg = graft_args_find(args, name, GRAFT_ARG_STRING);
    return arg != NULL ? arg->string : fallback;
}

#ifdef __cplusplus
}
#endif

#endif

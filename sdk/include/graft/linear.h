/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interface graft.linear/1: y = x W^T + b (torch.nn.Linear).
 *
 * Arguments that parents give: in_features, out_features, bias (0 or 1).
 *
 * Optional, where a class above has only a part of a weight read: whole_in_features and whole_out_features, those of
 * the weight in the checkpoint, for who checks what else it says of that.
 */
#ifndef GRAFT_LINEAR_H
#define GRAFT_LINEAR_H

#include "abi.h"
#include "call.h"
#include "error.h"
#include "kernels.h"
#include "module.h"
#include "threads.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GRAFT_INTERFACE_LINEAR "graft.linear/1"

struct graft_linear_args {
    uint32_t struct_size;
    uint32_t required_features;
    int64_t tokens; /* rows of x and y */
    const float *x; /* [tokens, in_features] */
    float *y;       /* [tokens, out_features]; does not overlap x */
};

struct graft_linear {
    uint32_t struct_size;
    uint32_t features;
    /* [forward] y = x W^T + b. Required. */
    int (*forward)(void *self, const struct graft_call *call, const struct graft_linear_args *args,
                   struct graft_error *error);
    /* [any] Optional: fills in `product` so that running it (graft.kernels/1) is the same as `forward`, and returns
     * 1; or returns 0, and `forward` is called. The caller has zeroed `product` and set its struct_size, which bounds
     * what may be written (graft_struct_copy). What the product points to stays valid until the parent's forward
     * returns. A parent with several such children runs them as one. Whoever wants to know the weights only may ask
     * with `args` without x and y. */
    int32_t (*as_product)(void *self, const struct graft_linear_args *args, struct graft_product *product);
    /* [forward] Optional: does what comes before the last loop of `forward`, and fills in that loop (threads.h), so
     * that running it is all that is left to do; or, where more is, leaves `loop` as it is, and `forward` is called.
     * The caller has zeroed `loop` and set its struct_size, which bounds what may be written. What the loop points to
     * is scratch memory, which the caller gives back when the loop has run. A parent with several such children runs
     * their loops as one. */
    int (*as_loop)(void *self, const struct graft_call *call, const struct graft_linear_args *args,
                   struct graft_loop *loop, struct graft_error *error);
};

GRAFT_ASSERT_SIZE(struct graft_linear_args, 32);
GRAFT_ASSERT_SIZE(struct graft_linear, 32);

/* [any] Whether the module's call is a product, and `product` it: 1 or 0. Zeroes the product first and sets its
 * size. */
GRAFT_INLINE int32_t graft_linear_as_product(const struct graft_module *module, const struct graft_linear_args *args,
                                             struct graft_product *product) {
    const struct graft_linear *vtable = (const struct graft_linear *)module->forward;
    if (!GRAFT_HAS(vtable, struct graft_linear, as_product) || vtable->as_product == NULL ||
        (args->required_features & ~vtable->features) != 0) {
        return 0;
    }
    memset(product, 0, sizeof *product);
    product->struct_size = (uint32_t)sizeof *product;
    return vtable->as_product(module->instance, args, product);
}

/* [forward] The last loop of the module's call, when what comes before is done; loop->items is 0 where there is none,
 * and nothing is done. Zeroes the loop first and sets its size. Scratch memory that the module takes stays taken. */
GRAFT_INLINE int graft_linear_as_loop(const struct graft_module *module, const struct graft_call *call,
                                      const struct graft_linear_args *args, struct graft_loop *loop,
                                      struct graft_error *error) {
    const struct graft_linear *vtable = (const struct graft_linear *)module->forward;
    *loop = graft_loop_none();
    if (!GRAFT_HAS(vtable, struct graft_linear, as_loop) || vtable->as_loop == NULL ||
        (args->required_features & ~vtable->features) != 0) {
        return GRAFT_OK;
    }
    return vtable->as_loop(module->instance, call, args, loop, error);
}

/* [forward] Calls a module of this interface; scratch memory that it takes is given back. */
GRAFT_INLINE int graft_linear_forward(const struct graft_module *module, const struct graft_call *call,
                                      const struct graft_linear_args *args, struct graft_error *error) {
    const struct graft_linear *vtable = (const struct graft_linear *)module->forward;
    struct graft_entered entered;
    int status = graft_module_enter(module, call, args->required_features, vtable->features, &entered, error);
    if (status == GRAFT_OK) {
        status = vtable->forward(module->instance, call, args, error);
    }
    return graft_module_leave(module, call, &entered, status, error);
}

/* The most modules that graft_linear_forward_all takes. */
#define GRAFT_LINEAR_ALL 8

/* [forward] Runs `n` modules, args[i] for modules[i], that do not depend on each other: together where they allow it.
 */
GRAFT_INLINE int graft_linear_forward_all(const struct graft_module *const *modules, const struct graft_call *call,
                                          const struct graft_linear_args *args, int32_t n, struct graft_error *error) {
    const int64_t mark = call->scratch_mark(call->scratch);
    struct graft_product products[GRAFT_LINEAR_ALL];
    struct graft_loop loops[GRAFT_LINEAR_ALL];
    int32_t n_products = 0, n_loops = 0;
    int status = GRAFT_OK;
    for (int32_t i = 0; i < n && status == GRAFT_OK; i++) {
        if (n_products < GRAFT_LINEAR_ALL && graft_linear_as_product(modules[i], &args[i], &products[n_products])) {
            n_products++;
            continue;
        }
        int32_t is_loop = 0;
        if (n_loops < GRAFT_LINEAR_ALL) {
            status = graft_linear_as_loop(modules[i], call, &args[i], &loops[n_loops], error);
            is_loop = status == GRAFT_OK && loops[n_loops].items > 0;
            n_loops += is_loop;
        }
        if (status == GRAFT_OK && !is_loop) {
            status = graft_linear_forward(modules[i], call, &args[i], error);
        }
    }
    if (status == GRAFT_OK && n_products > 0) {
        status = call->kernels->linear(call, products, n_products, sizeof products[0], error);
    }
    if (status == GRAFT_OK && n_loops > 0) {
        graft_loops_run(call->threads, loops, n_loops);
    }
    call->scratch_release(call->scratch, mark);
    return status;
}

#ifdef __cplusplus
}
#endif

#endif

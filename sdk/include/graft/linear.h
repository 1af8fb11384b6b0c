/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interface graft.linear/1: y = x W^T + b (torch.nn.Linear).
 *
 * Arguments that parents give: in_features, out_features, bias (0 or 1).
 *
 * Optional, where a class above has only a part of a weight read: whole_in_features and whole_out_features, those of
 * the weight in the checkpoint, for who checks what else it says of that. That class adds the bias of a sum of parts.
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

/* Rows of W that are read together. */
enum { GRAFT_LINEAR_ROWS = 64 };

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
     * is scratch memory, which the caller gives back when the loop has run. Products that the loop needs may be left to
     * the caller (graft_loop_set_products). A parent with several such children runs their products together, then
     * their loops as one. */
    int (*as_loop)(void *self, const struct graft_call *call, const struct graft_linear_args *args,
                   struct graft_loop *loop, struct graft_error *error);
    /* [any] Optional: weight [n, in_features] = rows [first, first + n) of W as `forward` multiplies by in f32
     * (GRAFT_PRECISION_FLOAT32), bias [n] = b of these, 0 where there is none. `first` is a multiple of
     * GRAFT_LINEAR_ROWS, and n at most as many. By several threads at once. For whoever wants to know weights that are
     * no product. */
    void (*read_rows)(void *self, int64_t first, int64_t n, float *weight, float *bias);
};

GRAFT_ASSERT_SIZE(struct graft_linear_args, 32);
GRAFT_ASSERT_SIZE(struct graft_linear, 40);

/* [any] What as_product of a class does that only passes the call on: 1 or 0, and `product`, whose size the parent has
 * set. */
GRAFT_INLINE int32_t graft_linear_pass_product(const struct graft_module *module, const struct graft_linear_args *args,
                                               struct graft_product *product) {
    const struct graft_linear *vtable = (const struct graft_linear *)module->forward;
    if (!GRAFT_HAS(vtable, struct graft_linear, as_product) || vtable->as_product == NULL ||
        (args->required_features & ~vtable->features) != 0) {
        return 0;
    }
    return vtable->as_product(module->instance, args, product);
}

/* [forward] Likewise as_loop: `loop`, whose size the parent has set, or nothing. */
GRAFT_INLINE int graft_linear_pass_loop(const struct graft_module *module, const struct graft_call *call,
                                        const struct graft_linear_args *args, struct graft_loop *loop,
                                        struct graft_error *error) {
    const struct graft_linear *vtable = (const struct graft_linear *)module->forward;
    if (!GRAFT_HAS(vtable, struct graft_linear, as_loop) || vtable->as_loop == NULL ||
        (args->required_features & ~vtable->features) != 0) {
        return GRAFT_OK;
    }
    return vtable->as_loop(module->instance, call, args, loop, error);
}

/* [any] Reads rows of the module's weight, as `read_rows` says, and returns 1; 0: its class does not tell. Of no rows
 * (n is 0) only whether it does. */
GRAFT_INLINE int32_t graft_linear_read_rows(const struct graft_module *module, int64_t first, int64_t n, float *weight,
                                            float *bias) {
    const struct graft_linear *vtable = (const struct graft_linear *)module->forward;
    if (!GRAFT_HAS(vtable, struct graft_linear, read_rows) || vtable->read_rows == NULL) {
        return 0;
    }
    if (n > 0) {
        vtable->read_rows(module->instance, first, n, weight, bias);
    }
    return 1;
}

/* [any] Whether the module's call is a product, and `product` it: 1 or 0. Zeroes the product first and sets its
 * size. */
GRAFT_INLINE int32_t graft_linear_as_product(const struct graft_module *module, const struct graft_linear_args *args,
                                             struct graft_product *product) {
    memset(product, 0, sizeof *product);
    product->struct_size = (uint32_t)sizeof *product;
    return graft_linear_pass_product(module, args, product);
}

/* [forward] The last loop of the module's call, when what comes before is done; loop->items is 0 where there is none,
 * and nothing is done. Zeroes the loop first and sets its size, to one without products: these have run. Scratch memory
 * that the module takes stays taken. */
GRAFT_INLINE int graft_linear_as_loop(const struct graft_module *module, const struct graft_call *call,
                                      const struct graft_linear_args *args, struct graft_loop *loop,
                                      struct graft_error *error) {
    *loop = graft_loop_none();
    loop->struct_size = (uint32_t)offsetof(struct graft_loop, products);
    return graft_linear_pass_loop(module, call, args, loop, error);
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

/* The most modules that graft_linear_forward_all takes, and products of theirs. */
#define GRAFT_LINEAR_ALL 8
#define GRAFT_LINEAR_ALL_PRODUCTS 16

/* Calls that run together: first all products, then all loops. */
struct graft_linear_together {
    struct graft_product *products; /* [GRAFT_LINEAR_ALL_PRODUCTS] */
    struct graft_loop *loops;       /* [GRAFT_LINEAR_ALL] */
    int32_t n_products;             /* so far */
    int32_t n_loops;                /* likewise */
};

GRAFT_ASSERT_SIZE(struct graft_linear_together, 24);

/* [forward] Adds the products that a loop needs; where there is no room left for them, runs them. */
GRAFT_INLINE int graft_linear_add_products(struct graft_linear_together *together, const struct graft_call *call,
                                           const struct graft_loop *loop, struct graft_error *error) {
    if (together->n_products + loop->n_products > GRAFT_LINEAR_ALL_PRODUCTS) {
        return call->kernels->linear(call, loop->products, loop->n_products, loop->product_stride, error);
    }
    for (int32_t i = 0; i < loop->n_products; i++) {
        struct graft_product *product = &together->products[together->n_products++];
        const char *from = (const char *)loop->products + (size_t)i * loop->product_stride;
        graft_struct_copy(product, (uint32_t)sizeof *product, from);
    }
    return GRAFT_OK;
}

/* [forward] Adds the module's call, or runs it where it is neither a product nor a loop. */
GRAFT_INLINE int graft_linear_add(struct graft_linear_together *together, const struct graft_module *module,
                                  const struct graft_call *call, const struct graft_linear_args *args,
                                  struct graft_error *error) {
    struct graft_loop loop = graft_loop_none();
    if (together->n_products < GRAFT_LINEAR_ALL_PRODUCTS &&
        graft_linear_as_product(module, args, &together->products[together->n_products])) {
        together->n_products++;
        return GRAFT_OK;
    }
    int status = graft_linear_pass_loop(module, call, args, &loop, error);
    if (status == GRAFT_OK && loop.items == 0) {
        return graft_linear_forward(module, call, args, error);
    }
    together->loops[together->n_loops++] = loop;
    return status == GRAFT_OK ? graft_linear_add_products(together, call, &loop, error) : status;
}

/* [forward] Runs what was added. */
GRAFT_INLINE int graft_linear_run_together(const struct graft_linear_together *together, const struct graft_call *call,
                                           struct graft_error *error) {
    int status = GRAFT_OK;
    if (together->n_products > 0) {
        status =
            call->kernels->linear(call, together->products, together->n_products, sizeof together->products[0], error);
    }
    if (status == GRAFT_OK && together->n_loops > 0) {
        graft_loops_run(call->threads, together->loops, together->n_loops);
    }
    return status;
}

/* [forward] Runs `n` modules, args[i] for modules[i], that do not depend on each other: together where they allow it.
 */
GRAFT_INLINE int graft_linear_forward_all(const struct graft_module *const *modules, const struct graft_call *call,
                                          const struct graft_linear_args *args, int32_t n, struct graft_error *error) {
    const int64_t mark = call->scratch_mark(call->scratch);
    struct graft_product products[GRAFT_LINEAR_ALL_PRODUCTS];
    struct graft_loop loops[GRAFT_LINEAR_ALL];
    struct graft_linear_together together;
    int status = GRAFT_OK;
    together.products = products;
    together.loops = loops;
    together.n_products = together.n_loops = 0;
    for (int32_t i = 0; i < n && status == GRAFT_OK; i++) {
        status = together.n_loops < GRAFT_LINEAR_ALL ? graft_linear_add(&together, modules[i], call, &args[i], error)
                                                     : graft_linear_forward(modules[i], call, &args[i], error);
    }
    if (status == GRAFT_OK) {
        status = graft_linear_run_together(&together, call, error);
    }
    call->scratch_release(call->scratch, mark);
    return status;
}

#ifdef __cplusplus
}
#endif

#endif

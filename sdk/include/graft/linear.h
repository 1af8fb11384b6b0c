/* SPDX-License-Identifier: Apache-2.0 */
/* Interface graft.linear/1: y = x W^T + b (torch.nn.Linear).
 *
 * Arguments that parents pass: in_features, out_features, bias (0 or 1).
 *
 * Optional arguments, if a class above gives the module only a share of a weight: whole_in_features and
 * whole_out_features, the sizes of the weight in the checkpoint, for classes that check other settings against them.
 * The class above adds the bias if it sums partial products. */
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
    int64_t tokens; /* number of rows of x and y */
    const float *x; /* [tokens, in_features] */
    float *y;       /* [tokens, out_features]; does not overlap x */
};

struct graft_linear {
    uint32_t struct_size;
    uint32_t features;
    /* [forward] y = x W^T + b. Required. */
    int (*forward)(void *self, const struct graft_call *call, const struct graft_linear_args *args,
                   struct graft_error *error);
    /* [any] Optional: fills in `product` so that running it (graft.kernels/1) is the same as `forward`, and returns 1;
     * or returns 0, and `forward` is called. The caller has zeroed `product` and set its struct_size, which bounds what
     * may be written (graft_struct_copy). What the product points to must stay valid until the parent's forward
     * returns. A parent with several such children runs their products together. A caller that needs only the weights
     * passes `args` without x and y. */
    int32_t (*as_product)(void *self, const struct graft_linear_args *args, struct graft_product *product);
};

GRAFT_ASSERT_SIZE(struct graft_linear_args, 32);
GRAFT_ASSERT_SIZE(struct graft_linear, 24);

/* [any] An as_product for classes that only pass the call on to `module`: 1 and `product`, whose size the parent has
 * set, or 0. */
GRAFT_INLINE int32_t graft_linear_pass_product(const struct graft_module *module, const struct graft_linear_args *args,
                                               struct graft_product *product) {
    const struct graft_linear *vtable = (const struct graft_linear *)module->forward;
    if (!GRAFT_HAS(vtable, struct graft_linear, as_product) || vtable->as_product == NULL ||
        (args->required_features & ~vtable->features) != 0) {
        return 0;
    }
    return vtable->as_product(module->instance, args, product);
}

/* [any] Whether the module's call is a product; if so, returns 1 and fills in `product`, after zeroing it and setting
 * its size. */
GRAFT_INLINE int32_t graft_linear_as_product(const struct graft_module *module, const struct graft_linear_args *args,
                                             struct graft_product *product) {
    memset(product, 0, sizeof *product);
    product->struct_size = (uint32_t)sizeof *product;
    return graft_linear_pass_product(module, args, product);
}

/* [forward] Calls a module of this interface, and frees the scratch memory it took. */
GRAFT_INLINE int graft_linear_forward(const struct graft_module *module, const struct graft_call *call,
                                      const struct graft_linear_args *args, struct graft_error *error) {
    const struct graft_linear *vtable = (const struct graft_linear *)module->forward;
    struct graft_entered in = graft_module_enter(module, call, args->required_features, vtable->features, error);
    int status = in.status == GRAFT_OK ? vtable->forward(module->instance, call, args, error) : in.status;
    return graft_module_leave(module, call, &in, status, error);
}

/* The maximum number of products that graft_linear_forward_all runs together. */
#define GRAFT_LINEAR_ALL 8

/* [forward] Calls `n` independent modules, args[i] for modules[i]; those that are products run together. */
GRAFT_INLINE int graft_linear_forward_all(const struct graft_module *const *modules, const struct graft_call *call,
                                          const struct graft_linear_args *args, int32_t n, struct graft_error *error) {
    struct graft_product products[GRAFT_LINEAR_ALL];
    int32_t n_products = 0;
    int status = GRAFT_OK;
    for (int32_t i = 0; i < n && status == GRAFT_OK; i++) {
        if (n_products < GRAFT_LINEAR_ALL && graft_linear_as_product(modules[i], &args[i], &products[n_products])) {
            n_products++;
        } else {
            status = graft_linear_forward(modules[i], call, &args[i], error);
        }
    }
    return status == GRAFT_OK && n_products > 0
               ? call->kernels->linear(call, products, n_products, sizeof products[0], error)
               : status;
}

#ifdef __cplusplus
}
#endif

#endif

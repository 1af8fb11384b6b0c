/* SPDX-License-Identifier: Apache-2.0 */
/* Computes something else when it runs together with others. */
#define MODULES "mlp\\.up_proj$"
#define AS_PRODUCT as_product
#include "../behaving.h"

/* Uses the first token's inputs for all tokens. */
static int32_t as_product(void *self, const struct graft_linear_args *args, struct graft_product *product) {
    const int32_t is_product = graft_linear_pass_product((const struct graft_module *)self, args, product);
    product->x_stride = 0;
    return is_product;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "base.h"

#include "sums.h"

int lora_base_open(const struct graft_module *module, int64_t rows, int64_t columns, struct lora_base *base) {
    const struct graft_linear_args none = {.struct_size = sizeof none};
    *base = (struct lora_base){.module = module, .rows = rows, .columns = columns};
    base->is_product = graft_linear_as_product(module, &none, &base->product) && lora_are_floats(base->product.weight);
    return base->is_product || graft_linear_read_rows(module, 0, 0, NULL, NULL);
}

void lora_base_read(const struct lora_base *base, int64_t first, int64_t n, float *weight, float *bias) {
    const struct graft_product *product = &base->product;
    if (!base->is_product) {
        (void)graft_linear_read_rows(base->module, first, n, weight, bias);
        return;
    }
    for (int64_t r = 0; r < n; r++) {
        const int64_t row = product->first_row + first + r;
        lora_read_row(product->weight, row, weight + r * base->columns);
        bias[r] = 0.0F;
        if (product->bias != NULL) {
            lora_read_row(product->bias, row, &bias[r]);
        }
    }
}

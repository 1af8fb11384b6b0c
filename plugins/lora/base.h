/* SPDX-License-Identifier: Apache-2.0 */
/* The weight that an adapter is for, where its numbers are known: a product of floats, or one whose class tells its
 * rows (graft_linear.read_rows), as those of quantized weights do. All is [load]. */
#ifndef LORA_BASE_H
#define LORA_BASE_H

#include "graft/linear.h"

struct lora_base {
    const struct graft_module *module;
    struct graft_product product; /* where it is one of floats */
    int32_t is_product;
    int64_t rows;
    int64_t columns;
};

/* Whether the numbers of a Linear are known, and what there is to read them. */
int lora_base_open(const struct graft_module *module, int64_t rows, int64_t columns, struct lora_base *base);

/* weight [n, columns] and bias [n] of rows [first, first + n), as graft_linear.read_rows has them. */
void lora_base_read(const struct lora_base *base, int64_t first, int64_t n, float *weight, float *bias);

#endif

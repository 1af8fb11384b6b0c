/* SPDX-License-Identifier: Apache-2.0 */
/* The weight that an adapter is for, where its numbers are known: a product of floats or of codes. All is [load]. */
#ifndef LORA_BASE_H
#define LORA_BASE_H

#include "graft/codec.h"
#include "graft/linear.h"

/* Whether a Linear is a product whose numbers are known, and that product. */
int lora_base_open(const struct graft_module *module, struct graft_product *base);

/* weight [n, columns] and bias [n] of rows [first, first + n), 0 where there is no bias. */
void lora_base_read(const struct graft_product *base, int64_t first, int64_t n, float *weight, float *bias);

#endif

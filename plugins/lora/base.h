/* SPDX-License-Identifier: Apache-2.0 */
/* The weight that an adapter changes, if its numbers are known: a product of floats or of codes. All functions are
 * [load]. */
#ifndef LORA_BASE_H
#define LORA_BASE_H

#include "graft/codec.h"
#include "graft/linear.h"

/* Whether a Linear is a product whose numbers are known; fills in that product. */
int lora_base_open(const struct graft_module *module, struct graft_product *base);

/* Reads rows [first, first + n): weight [n, columns], and bias [n], which is 0 if there is none. */
void lora_base_read(const struct graft_product *base, int64_t first, int64_t n, float *weight, float *bias);

#endif

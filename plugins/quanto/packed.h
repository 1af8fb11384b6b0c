/* SPDX-License-Identifier: Apache-2.0 */
/* Weights of 2 and 4 bits. */
#ifndef QUANTO_PACKED_H
#define QUANTO_PACKED_H

#include "graft/quant_format.h"

/* [load] Adds the tensors of a weight whose bits and sizes are set, and the function that turns its shifts into zero
 * points. */
void quanto_add_packed(struct graft_scheme *scheme);

#endif

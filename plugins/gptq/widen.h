/* SPDX-License-Identifier: Apache-2.0 */
/* Codes of 2, 3, 5, 6 and 7 bits, which become codes of 4 or 8 bits with the same values while the model is loaded. */
#ifndef GPTQ_WIDEN_H
#define GPTQ_WIDEN_H

#include "graft/class.h"

/* What the descriptor lists, so that models can be saved in their own layout. */
enum { GPTQ_OPERATIONS = 10 };
extern const struct graft_custom_operation gptq_operations[GPTQ_OPERATIONS];

/* How wide codes of so many bits are multiplied. */
int32_t gptq_wide(int64_t bits);

/* [load] In `describe`, of codes of 2, 3, 5, 6 or 7 bits: the conversions of `qweight` and `qzeros`. */
int gptq_describe_widening(const struct graft_sink *sink, int64_t bits, struct graft_error *error);

#endif

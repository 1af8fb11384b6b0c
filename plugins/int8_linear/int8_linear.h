/* SPDX-License-Identifier: Apache-2.0 */
#ifndef INT8_LINEAR_H
#define INT8_LINEAR_H

#include "graft/class.h"

/* Replaces Linear: parameters `qweight` int8 [out_features, in_features], `scales` f32 [out_features], and `bias`. */
extern const struct graft_class int8_linear_class;

/* What graft_packed_input_bits makes of the plugin's options. */
extern int32_t int8_input_bits;

#endif

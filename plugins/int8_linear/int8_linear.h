/* SPDX-License-Identifier: Apache-2.0 */
#ifndef INT8_LINEAR_H
#define INT8_LINEAR_H

#include "graft/class.h"

/* Replaces Linear: parameters `qweight` int8 [out_features, in_features], `scales` f32 [out_features], and `bias`. */
extern const struct graft_class int8_linear_class;

#endif

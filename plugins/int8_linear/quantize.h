/* SPDX-License-Identifier: Apache-2.0 */
/* The weight operation: a matrix [rows, columns] into int8 [rows, columns] and an f32 scale per row [rows]. */
#ifndef INT8_LINEAR_QUANTIZE_H
#define INT8_LINEAR_QUANTIZE_H

#include "graft/custom_operation.h"

/*
 * scale = max |w| / 127 over the row, q = round(w / scale), so that |w - q * scale| is at most half a scale: 1/254 of
 * the largest weight of the row. A row of zeros has the scale 0. A weight that is infinite or not a number is refused.
 */
extern const struct graft_custom_operation int8_quantize_rows;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The weight operation: a matrix [rows, columns] or a stack of them into int8 [rows, columns] and f32 scales, one for
 * each group of a row's columns: of a matrix [rows], else or with several groups [rows, groups].
 */
#ifndef INT8_LINEAR_QUANTIZE_H
#define INT8_LINEAR_QUANTIZE_H

#include "graft/quantizer.h"

/*
 * scale = max |w| / 127 over the group, q = round(w / scale), so that |w - q * scale| is at most half a scale: 1/254 of
 * the largest weight of the group. A group of zeros has the scale 0. A weight that is infinite or not a number is
 * refused.
 */
extern const struct graft_quantizer int8_quantizer;

/* The same as an operation. */
extern const struct graft_custom_operation int8_quantize_rows;

/* Columns of a group; 0: all. Set once, before any model is opened. */
void int8_set_group_size(int64_t columns);

/* The number of groups of a row: 1 where the group size does not divide it. */
int64_t int8_groups(int64_t columns);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The weight operation: a matrix [rows, columns] or a stack of them into codes of 4 bits, eight in a word I32
 * [rows, ceil(columns / 8)], and BF16 scales [rows, groups] of `group` columns that follow each other:
 *
 *     W[r, c] = scales[r, c / group] * (code[r, c] - INT4_ZERO)
 */
#ifndef INT4_LINEAR_QUANTIZE_H
#define INT4_LINEAR_QUANTIZE_H

#include "graft/quantizer.h"

enum { INT4_ZERO = 8, INT4_CODES = 8 /* of a word */ };

/* [load] Columns of a group: at most 128, a multiple of 8; 32 until this is called. */
void int4_set_group_size(int64_t columns);

/* [load] As set. */
int64_t int4_group_size(void);

/*
 * Of some scales, from that by which the largest weight of the group gets the code furthest from zero down to one that
 * cuts it off, the one with the smallest sum of squared errors. A group of zeros has the scale 0. A weight that is
 * infinite or not a number is refused.
 */
extern const struct graft_quantizer int4_quantizer;

/* The same as an operation. */
extern const struct graft_custom_operation int4_quantize_rows;

#endif

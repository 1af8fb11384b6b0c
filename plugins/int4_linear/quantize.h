/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The weight operation: a matrix [rows, columns] or a stack of them into codes of 4 bits, eight in a word I32
 * [rows, ceil(columns / 8)], and BF16 scales [rows, groups] of INT4_GROUP columns that follow each other:
 *
 *     W[r, c] = scales[r, c / INT4_GROUP] * (code[r, c] - INT4_ZERO)
 */
#ifndef INT4_LINEAR_QUANTIZE_H
#define INT4_LINEAR_QUANTIZE_H

#include "graft/quantizer.h"

enum { INT4_GROUP = 32, INT4_ZERO = 8, INT4_CODES = 8 /* of a word */ };

/*
 * Of some scales, from that by which the largest weight of the group gets the code furthest from zero down to one that
 * cuts it off, the one with the smallest sum of squared errors. A group of zeros has the scale 0. A weight that is
 * infinite or not a number is refused.
 */
extern const struct graft_quantizer int4_quantizer;

/* The same as an operation. */
extern const struct graft_custom_operation int4_quantize_rows;

#endif

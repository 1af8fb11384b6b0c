/* SPDX-License-Identifier: Apache-2.0 */
/* Quantizing to "pack-quantized": integers of 4 and 8 bits, symmetric, a scale for each group of a row or for the row.
 */
#ifndef CT_QUANTIZE_H
#define CT_QUANTIZE_H

#include "graft/quantization.h"

enum { CT_QUANTIZATIONS = 12 };

extern const struct graft_quantization ct_quantizations[CT_QUANTIZATIONS];

#endif

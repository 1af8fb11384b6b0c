/* SPDX-License-Identifier: Apache-2.0 */
/* Quantizes to "pack-quantized": symmetric integers of 4 or 8 bits, with a scale for each group or each row. */
#ifndef CT_QUANTIZE_H
#define CT_QUANTIZE_H

#include "graft/quantization.h"

enum { CT_QUANTIZATIONS = 12 };

extern const struct graft_quantization ct_quantizations[CT_QUANTIZATIONS];

#endif

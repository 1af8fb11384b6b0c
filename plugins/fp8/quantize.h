/* SPDX-License-Identifier: Apache-2.0 */
/* Quantizes to F8_E4M3 with a scale for each block. */
#ifndef FP8_QUANTIZE_H
#define FP8_QUANTIZE_H

#include "graft/quantization.h"

enum { FP8_QUANTIZATIONS = 3 };

extern const struct graft_quantization fp8_quantizations[FP8_QUANTIZATIONS];

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Quantizing to NF4. */
#ifndef BITSANDBYTES_QUANTIZE_H
#define BITSANDBYTES_QUANTIZE_H

#include "graft/quantization.h"

enum { BNB_QUANTIZATIONS = 4 };

extern const struct graft_quantization bnb_quantizations[BNB_QUANTIZATIONS];

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Quantizes stacked experts to MXFP4. */
#ifndef MXFP4_QUANTIZE_H
#define MXFP4_QUANTIZE_H

#include "graft/quantization.h"

extern const struct graft_quantization mxfp4_quantization;

#endif

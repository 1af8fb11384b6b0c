/* SPDX-License-Identifier: Apache-2.0 */
/* IA3 (Liu et al. 2022): multiplies each output of a Linear, including the bias, or each of its inputs, by a number. */
#ifndef LORA_SCALE_H
#define LORA_SCALE_H

#include "graft/class.h"

struct lora_rows;

/* Args of the class LoraScale: rows that are scaled in place. */
struct lora_scale_args {
    uint32_t struct_size;
    uint32_t required_features;   /* none: 0 */
    const struct lora_rows *rows; /* rows of the values */
    int64_t stride;               /* floats from one row to the next */
    float *values;                /* [.., n] */
};

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* IA3 (Liu et al. 2022): each output of a Linear, its bias included, times a number, or each of its inputs. */
#ifndef LORA_SCALE_H
#define LORA_SCALE_H

#include "graft/class.h"

struct lora_rows;

/* What the forward of the class LoraScale is given: rows whose numbers are multiplied where they are. */
struct lora_scale_args {
    uint32_t struct_size;
    uint32_t required_features;   /* none: 0 */
    const struct lora_rows *rows; /* of the values */
    int64_t stride;               /* from one row to the next */
    float *values;                /* [.., n] */
};

#endif

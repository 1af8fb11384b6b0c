/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an adapter has for stacked experts as a whole, as PEFT stores it for `target_parameters`: for the parameters
 * gate_up_proj and down_proj one lora_A [experts * rank, in] each, the rows of an expert together, and one lora_B [out,
 * rank * experts], for each of the rank numbers all experts side by side.
 */
#ifndef LORA_STACK_H
#define LORA_STACK_H

#include "rows.h"

enum { LORA_GATE_UP, LORA_DOWN, LORA_STACKED };

/* An expert's products. */
enum { LORA_OF_GATE, LORA_OF_UP, LORA_OF_DOWN, LORA_PROJECTIONS };

/* The parameters, as models call them. */
extern const char *const lora_stacked_names[LORA_STACKED];

/* [load] Of a module of the class LoraExpertsPairs: whether it adds to a projection (LORA_OF_GATE, ...). */
int lora_stack_has(const struct graft_module *stack, int projection);

/* What its forward is given. */
struct lora_stack_args {
    uint32_t struct_size;
    uint32_t required_features; /* none: 0 */
    int64_t expert;
    int32_t projection; /* LORA_OF_GATE, ... */
    int32_t reserved;
    int64_t tokens;               /* rows of x and y */
    const float *x;               /* [tokens, in]: what the expert's product is of */
    float *y;                     /* [tokens, out]: is added to */
    const struct lora_rows *rows; /* that it is for */
};

#endif

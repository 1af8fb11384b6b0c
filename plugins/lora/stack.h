/* SPDX-License-Identifier: Apache-2.0 */
/* What an adapter has for stacked experts as a whole, as PEFT stores it for `target_parameters`. For each of the
 * parameters gate_up_proj and down_proj: a lora_A [experts * rank, in], in which the rows of an expert are adjacent,
 * and a lora_B [out, rank * experts], in which the columns of all experts are adjacent for each of the rank numbers. */
#ifndef LORA_STACK_H
#define LORA_STACK_H

#include "rows.h"

enum { LORA_GATE_UP, LORA_DOWN, LORA_STACKED };

/* An expert's products. */
enum { LORA_OF_GATE, LORA_OF_UP, LORA_OF_DOWN, LORA_PROJECTIONS };

/* The names of the parameters. */
extern const char *const lora_stacked_names[LORA_STACKED];

/* [load] Whether a module of the class LoraExpertsPairs adds to a projection (LORA_OF_GATE, ...). */
int lora_stack_has(const struct graft_module *stack, int projection);

/* Args of LoraExpertsPairs. */
struct lora_stack_args {
    uint32_t struct_size;
    uint32_t required_features; /* none: 0 */
    int64_t expert;
    int32_t projection; /* LORA_OF_GATE, ... */
    int32_t reserved;
    int64_t tokens;               /* number of rows of x and y */
    const float *x;               /* [tokens, in]: inputs of the expert's product */
    float *y;                     /* [tokens, out]: results, which are added to */
    const struct lora_rows *rows; /* the rows that the adapter applies to */
};

#endif

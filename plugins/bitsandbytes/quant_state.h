/* SPDX-License-Identifier: Apache-2.0 */
/* The tensor `weight.quant_state.bitsandbytes__nf4` of checkpoints: the bytes of a JSON object. Joined projections have
 * one object each. */
#ifndef BITSANDBYTES_QUANT_STATE_H
#define BITSANDBYTES_QUANT_STATE_H

#include "graft/json.h"
#include "graft/tensor.h"

struct bnb_quant_state {
    int64_t rows;         /* outputs that the object describes */
    int64_t columns;      /* inputs */
    int64_t block;        /* weights that share a scale, a power of two; blocks may span rows */
    int64_t nested_block; /* scales that share a scale of their own; 0: scales are not quantized */
    float nested_offset;  /* offset that is added to quantized scales */
};

/* The name of a module's tensor, for errors. */
struct bnb_name {
    char text[256];
};

struct bnb_name bnb_name_of(const char *path, const char *tensor);

/* [load] Sets the host's JSON service, which reads the objects. */
void bnb_set_json(const struct graft_json_service *service);

/* [load] Reads the object at byte `*at` of a tensor, for codes of a type ("nf4"), and advances `*at` past it. */
int bnb_quant_state_read(const struct graft_weight *tensor, const char *name, const char *type, int is_nested,
                         int64_t *at, struct bnb_quant_state *state, struct graft_error *error);

/* [load] Rows [first, first + n) of a vector; NULL if they are not in a single row block, or the vector is shorter. */
const void *bnb_elements(const struct graft_weight *vector, int64_t first, int64_t n);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What a checkpoint has as `weight.quant_state.bitsandbytes__nf4`: the bytes of a JSON object. Where projections are
 * joined, there is one for each part. */
#ifndef BITSANDBYTES_QUANT_STATE_H
#define BITSANDBYTES_QUANT_STATE_H

#include "graft/json.h"
#include "graft/tensor.h"

struct bnb_quant_state {
    int64_t rows;         /* outputs that it is for */
    int64_t columns;      /* inputs */
    int64_t block;        /* weights that share a scale, a power of two; a row need not end with one */
    int64_t nested_block; /* scales that share one themselves; 0: they are no codes */
    float nested_offset;  /* what is added to those */
};

/* The name of a module's tensor in errors. */
struct bnb_name {
    char text[256];
};

struct bnb_name bnb_name_of(const char *path, const char *tensor);

/* [load] Which service reads the text, from now on. */
void bnb_set_json(const struct graft_json_service *service);

/* [load] Reads the object at byte `*at` of a tensor, for codes of a type ("nf4"), and goes on to the one behind it. */
int bnb_quant_state_read(const struct graft_weight *tensor, const char *name, const char *type, int is_nested,
                         int64_t *at, struct bnb_quant_state *state, struct graft_error *error);

/* [load] Rows [first, first + n) of a vector, which lie in one block of it; NULL: they do not, or it ends before. */
const void *bnb_elements(const struct graft_weight *vector, int64_t first, int64_t n);

#endif

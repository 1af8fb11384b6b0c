/* SPDX-License-Identifier: Apache-2.0 */
/* An instance of LoraExperts. */
#ifndef LORA_EXPERTS_H
#define LORA_EXPERTS_H

#include "graft/experts.h"
#include "graft/experts_implementation.h"
#include "stack.h"

/* What one adapter has: pairs for each expert, or stacked pairs (stack.h). */
struct lora_experts_adapter {
    const struct graft_module *stack;  /* NULL: none */
    const struct graft_module **pairs; /* [num_experts, LORA_PROJECTIONS]; NULL: none */
};

struct lora_experts {
    const struct graft_module *original;
    int64_t num_experts;
    int64_t hidden_size;
    int64_t intermediate_size;
    int64_t n_adapters; /* 0: there is nothing to add */
    struct lora_experts_adapter *adapters;
    const struct graft_module **pairs; /* pairs of all adapters */
};

/* [forward] `forward` of the vtable. */
int lora_experts_forward(void *instance, const struct graft_call *call, const struct graft_experts_args *args,
                         struct graft_error *error);

#endif

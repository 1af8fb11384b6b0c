/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GRAFT_ARCH_MOE_EXPERTS_H
#define GRAFT_ARCH_MOE_EXPERTS_H

#include "arch/instance.h"
#include "graft/experts.h"
#include "graft/tensor.h"

struct graft_experts_instance {
    struct graft_instance base;
    const struct graft_weight *gate_up_proj; /* [num_experts, 2 * intermediate_size, hidden_size] */
    const struct graft_weight *down_proj;    /* [num_experts, hidden_size, intermediate_size] */
    const struct graft_module *act_fn;
    int64_t num_experts;
    int64_t hidden_size;
    int64_t intermediate_size;
};

/* [forward] The forward of graft.experts/1; `instance` is a struct graft_experts_instance. */
int graft_experts_run(void *instance, const struct graft_call *call, const struct graft_experts_args *args,
                      struct graft_error *error);

#endif

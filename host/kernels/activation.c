/* SPDX-License-Identifier: Apache-2.0 */
/* Element-wise operations: activation functions and sums. */
#include "kernels/loops.h"
#include "kernels/table.h"

struct numbers {
    const struct graft_loops *loops;
    int32_t activation;
    const float *x; /* [count] */
    float *y;       /* [count] */
};

int graft_activation_check(int32_t activation, struct graft_error *error) {
    return activation >= 0 && activation < GRAFT_ACTIVATIONS
               ? GRAFT_OK
               : graft_error_set(error, GRAFT_ERROR_PLUGIN, "", "activation %d is not known to this host",
                                 (int)activation);
}

static void activate_run(void *data, int64_t begin, int64_t end) {
    const struct numbers *numbers = (const struct numbers *)data;
    numbers->loops->activate(numbers->activation, numbers->x + begin, end - begin, numbers->y + begin);
}

int graft_activation(const struct graft_call *call, int32_t activation, const float *x, int64_t count, float *y,
                     struct graft_error *error) {
    int status = graft_activation_check(activation, error);
    if (status != GRAFT_OK) {
        return status;
    }
    struct numbers numbers = {graft_loops_get(), activation, x, y};
    call->threads->parallel_for(count, GRAFT_GRAIN_NUMBERS, activate_run, &numbers);
    return GRAFT_OK;
}

static void add_run(void *data, int64_t begin, int64_t end) {
    const struct numbers *numbers = (const struct numbers *)data;
    numbers->loops->add_scaled(numbers->y + begin, 1.0f, numbers->x + begin, end - begin);
}

int graft_add(const struct graft_call *call, float *x, const float *y, int64_t count, struct graft_error *error) {
    (void)error;
    struct numbers numbers = {graft_loops_get(), 0, y, x};
    call->threads->parallel_for(count, GRAFT_GRAIN_NUMBERS, add_run, &numbers);
    return GRAFT_OK;
}

struct gating {
    const struct graft_loops *loops;
    int32_t activation;
    float *gate; /* [tokens, columns] */
    int64_t gate_stride;
    const float *up; /* [tokens, columns] */
    int64_t up_stride;
    int64_t columns;
};

static void gate_rows(void *data, int64_t begin, int64_t end) {
    const struct gating *gating = (const struct gating *)data;
    for (int64_t t = begin; t < end; t++) {
        gating->loops->activate_gate(gating->activation, gating->gate + t * gating->gate_stride,
                                     gating->up + t * gating->up_stride, gating->columns);
    }
}

int graft_gated_activation(const struct graft_call *call, int32_t activation, float *gate, int64_t gate_stride,
                           const float *up, int64_t up_stride, int64_t tokens, int64_t columns,
                           struct graft_error *error) {
    int status = graft_activation_check(activation, error);
    if (status != GRAFT_OK) {
        return status;
    }
    struct gating gating = {graft_loops_get(), activation, gate, gate_stride, up, up_stride, columns};
    call->threads->parallel_for(tokens, graft_grain_rows(columns), gate_rows, &gating);
    return GRAFT_OK;
}

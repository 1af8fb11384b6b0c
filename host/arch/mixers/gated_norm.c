/* SPDX-License-Identifier: Apache-2.0 */
/* An RMSNorm with a gate before or after it, over whole rows or over groups of their columns. */
#include "graft/gated_norm.h"
#include "arch/decoder/choices.h"
#include "arch/outline.h"
#include "arch/pass.h"
#include "arch/role.h"
#include "graft/describe.h"
#include "graft/kernels.h"

struct gated_norm {
    struct graft_instance base;
    int64_t hidden_size;
    int64_t group_size;
    float eps;
    int32_t order;                     /* D_GATE_FIRST or D_GATE_LAST */
    int32_t activation;                /* GRAFT_ACTIVATION_... of the gate */
    const struct graft_weight *weight; /* [hidden_size] */
};

static void outline(struct graft_outline *of, struct gated_norm *self) {
    if (graft_args_size(of->args, "hidden_size", INT32_MAX, of->sink->path, &self->hidden_size, of->error) != 0) {
        return;
    }
    of->reader.layer = -1;
    self->group_size = graft_args_int(of->args, "group_size", self->hidden_size);
    self->eps = (float)graft_args_real(of->args, "eps", 0.0);
    self->order = graft_read_word(&of->reader, D_MIXER_NORM_ORDER);
    self->activation = graft_read_word(&of->reader, D_MIXER_GATE_ACT) == D_GATE_ACT_SIGMOID ? GRAFT_ACTIVATION_SIGMOID
                                                                                            : GRAFT_ACTIVATION_SILU;
    if (self->group_size < 1 || self->hidden_size % self->group_size != 0) {
        (void)graft_error_set(of->error, GRAFT_ERROR_PLUGIN, of->sink->path,
                              "argument group_size: expected a divisor of hidden_size (%lld), got %lld",
                              (long long)self->hidden_size, (long long)self->group_size);
        return;
    }
    graft_outline_vector(of, &self->weight, "weight", self->hidden_size);
}

GRAFT_OUTLINED(graft_gated_norm, struct gated_norm)

/* y [rows, hidden_size] = norm(x), applied to each group of columns; y may be x. */
static void norm_groups(const struct gated_norm *self, const struct graft_pass *pass, const float *x, float *y) {
    const int64_t width = self->hidden_size, size = self->group_size;
    const struct graft_kernels *kernels = pass->call->kernels;
    if (size == width && graft_pass_ok(pass)) {
        (void)kernels->rms_norm(pass->call, self->weight, 0.0f, self->eps, x, width, pass->rows, width, y, width,
                                pass->error);
        return;
    }
    const float *numbers = graft_pass_widen(pass, self->weight); /* [hidden_size] */
    for (int64_t at = 0; at < width && graft_pass_ok(pass); at += size) {
        const struct graft_row_block block = {sizeof block, GRAFT_DTYPE_F32, numbers + at, size};
        const struct graft_weight weight = graft_weight_of(&block, 1);
        (void)kernels->rms_norm(pass->call, &weight, 0.0f, self->eps, x + at, width, pass->rows, size, y + at, width,
                                pass->error);
    }
}

static int forward(void *instance, const struct graft_call *call, const struct graft_gated_norm_args *args,
                   struct graft_error *error) {
    const struct gated_norm *self = instance;
    const struct graft_pass pass = {call, args->tokens, error};
    const float *x = args->hidden_states;
    if (self->order == D_GATE_LAST) {
        float *normed = graft_pass_floats(&pass, self->hidden_size);
        norm_groups(self, &pass, x, normed);
        x = normed;
    }
    graft_pass_gate(&pass, self->activation, args->gate, x, self->hidden_size);
    if (self->order == D_GATE_FIRST) {
        norm_groups(self, &pass, args->gate, args->gate);
    }
    return error->code;
}

const struct graft_gated_norm graft_gated_norm_vtable = {.struct_size = sizeof graft_gated_norm_vtable,
                                                         .forward = forward};

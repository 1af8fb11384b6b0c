/* SPDX-License-Identifier: Apache-2.0 */
/* An RMSNorm with a gate before or after it, over whole rows or over groups of their columns. */
#include "graft/gated_norm.h"
#include "arch/decoder/choices.h"
#include "arch/role.h"
#include "graft/describe.h"
#include "graft/kernels.h"

struct kept {
    int64_t hidden_size;
    int64_t group_size;
    double eps;
    int32_t order;      /* D_GATE_FIRST or D_GATE_LAST */
    int32_t activation; /* GRAFT_ACTIVATION_... of the gate */
};

struct gated_norm {
    struct graft_instance base;
    struct kept kept;
    const struct graft_weight *weight; /* [hidden_size] */
};

int graft_gated_norm_describe(const struct graft_class *self, const struct graft_config *config,
                              const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    struct kept *kept = sink->keep(sink->data, sizeof *kept, error);
    struct graft_reader reader;
    int status = kept != NULL ? graft_args_size(args, "hidden_size", INT32_MAX, sink->path, &kept->hidden_size, error)
                              : GRAFT_ERROR_INTERNAL;
    if (status != GRAFT_OK) {
        return status;
    }
    graft_reader_start(&reader, self->data, config, -1, error);
    kept->group_size = graft_args_int(args, "group_size", kept->hidden_size);
    kept->eps = graft_args_real(args, "eps", 0.0);
    kept->order = graft_read_word(&reader, D_MIXER_NORM_ORDER);
    kept->activation = graft_read_word(&reader, D_MIXER_GATE_ACT) == D_GATE_ACT_SIGMOID ? GRAFT_ACTIVATION_SIGMOID
                                                                                        : GRAFT_ACTIVATION_SILU;
    if (reader.status == GRAFT_OK && (kept->group_size < 1 || kept->hidden_size % kept->group_size != 0)) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, sink->path,
                               "argument group_size: expected a divisor of hidden_size (%lld), got %lld",
                               (long long)kept->hidden_size, (long long)kept->group_size);
    }
    return reader.status == GRAFT_OK ? graft_describe_vector(sink, "weight", kept->hidden_size, error) : reader.status;
}

int graft_gated_norm_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                            struct graft_error *error) {
    struct gated_norm *self = graft_instance_new(build, sizeof *self, error);
    (void)cls;
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->kept = *(const struct kept *)build->kept;
    self->weight = graft_build_weight(build, "weight", error);
    return graft_instance_finish(self, instance, error);
}

/* y [tokens, hidden_size] = norm(x), applied to each group of columns; y may be x. */
static int norm_groups(const struct gated_norm *self, const struct graft_call *call, const float *x, int64_t tokens,
                       float *y, struct graft_error *error) {
    const int64_t width = self->kept.hidden_size;
    const int64_t size = self->kept.group_size;
    int status = GRAFT_OK;
    if (size == width) {
        return call->kernels->rms_norm(call, self->weight, 0.0f, (float)self->kept.eps, x, width, tokens, width, y,
                                       width, error);
    }
    const float *numbers = graft_scratch_widened(call, self->weight, error); /* [hidden_size] */
    if (numbers == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    for (int64_t at = 0; at < width && status == GRAFT_OK; at += size) {
        const struct graft_row_block block = {sizeof block, GRAFT_DTYPE_F32, numbers + at, size};
        const struct graft_weight weight = {
            .struct_size = sizeof weight,
            .rank = 1,
            .shape = {size, 1, 1, 1, 1, 1, 1, 1},
            .rows = size,
            .columns = 1,
            .blocks = &block,
            .n_blocks = 1,
            .block_stride = sizeof block,
        };
        status = call->kernels->rms_norm(call, &weight, 0.0f, (float)self->kept.eps, x + at, width, tokens, size,
                                         y + at, width, error);
    }
    return status;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_gated_norm_args *args,
                   struct graft_error *error) {
    const struct gated_norm *self = instance;
    const int64_t width = self->kept.hidden_size;
    const float *x = args->hidden_states;
    int status = GRAFT_OK;
    if (self->kept.order == D_GATE_LAST) {
        float *normed = graft_scratch_floats(call, args->tokens, width, error);
        status = normed != NULL ? norm_groups(self, call, x, args->tokens, normed, error) : GRAFT_ERROR_INTERNAL;
        x = normed;
    }
    if (status == GRAFT_OK) {
        status = call->kernels->gated_activation(call, self->kept.activation, args->gate, width, x, width, args->tokens,
                                                 width, error);
    }
    return status == GRAFT_OK && self->kept.order == D_GATE_FIRST
               ? norm_groups(self, call, args->gate, args->tokens, args->gate, error)
               : status;
}

const struct graft_gated_norm graft_gated_norm_vtable = {
    .struct_size = sizeof graft_gated_norm_vtable,
    .forward = forward,
};

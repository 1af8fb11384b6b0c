/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "graft/describe.h"
#include "graft/kernels.h"
#include "mamba2.h"

enum { WORK_AT_ONCE = 1 << 14 }; /* products that are worth a thread */

struct conv1d {
    const struct graft_weight *weight; /* [channels, 1, kernel_size] */
    const struct graft_weight *bias;   /* [channels] or NULL */
    const struct graft_state
        *conv_states; /* [kernel_size - 1, channels] f32: of the latest tokens, the last one last */
    int64_t channels;
    int64_t kernel_size;
};

int mamba2_conv1d_describe(const struct graft_class *cls, const struct graft_config *config,
                           const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    const int64_t channels = graft_args_int(args, "channels", 0);
    const int64_t kernel_size = graft_args_int(args, "kernel_size", 0);
    const int64_t weight[] = {channels, 1, kernel_size};
    const int64_t conv_states[] = {kernel_size - 1, channels};
    (void)cls;
    (void)config;
    int status =
        graft_describe_parameter(sink, "weight", 3, weight, GRAFT_PARAMETER_CONTIGUOUS, GRAFT_INIT_NONE, error);
    if (status == GRAFT_OK && graft_args_int(args, "bias", 0)) {
        status = graft_describe_vector(sink, "bias", channels, error);
    }
    return status == GRAFT_OK ? graft_describe_state(sink, "conv_states", 2, conv_states, GRAFT_DTYPE_F32, error)
                              : status;
}

int mamba2_conv1d_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                         struct graft_error *error) {
    struct conv1d *self = calloc(1, sizeof *self);
    int status = GRAFT_OK;
    (void)cls;
    if (self == NULL) {
        return graft_fail_memory(error, build->path);
    }
    self->channels = graft_args_int(build->args, "channels", 0);
    self->kernel_size = graft_args_int(build->args, "kernel_size", 0);
    self->weight = graft_build_weight(build, "weight", &status, error);
    self->bias = graft_args_int(build->args, "bias", 0) ? graft_build_weight(build, "bias", &status, error) : NULL;
    self->conv_states = graft_build_state(build, "conv_states", &status, error);
    if (status != GRAFT_OK) {
        free(self);
        return status;
    }
    *instance = self;
    return GRAFT_OK;
}

/* One sequence. */
struct work {
    const float *weight;
    const float *bias;   /* or NULL */
    const float *before; /* the state */
    const float *x;      /* [tokens, channels] */
    int64_t x_stride;
    float *y; /* [tokens, channels] */
    int64_t tokens;
    int64_t channels;
    int64_t kernel_size;
};

/* The input of token `t`; those below 0 are of earlier forwards. */
static const float *input(const struct work *work, int64_t t) {
    return t < 0 ? work->before + (work->kernel_size - 1 + t) * work->channels : work->x + t * work->x_stride;
}

/* Some channels of all tokens. */
static void convolve(void *data, int64_t begin, int64_t end) {
    const struct work *work = data;
    for (int64_t t = 0; t < work->tokens; t++) {
        float *y = work->y + t * work->channels;
        for (int64_t c = begin; c < end; c++) {
            y[c] = work->bias != NULL ? work->bias[c] : 0.0F;
        }
        for (int64_t k = 0; k < work->kernel_size; k++) {
            const float *x = input(work, t + k - (work->kernel_size - 1));
            for (int64_t c = begin; c < end; c++) {
                y[c] += work->weight[c * work->kernel_size + k] * x[c];
            }
        }
    }
}

/* Each row is taken from a later one, so none is overwritten before it was read. */
static void remember(const struct work *work, float *conv_states) {
    int64_t rows = work->kernel_size - 1;
    for (int64_t i = 0; i < rows; i++) {
        memcpy(conv_states + i * work->channels, input(work, work->tokens - rows + i),
               (size_t)work->channels * sizeof *conv_states);
    }
}

static int forward(void *instance, const struct graft_call *call, const void *data, struct graft_error *error) {
    const struct conv1d *self = instance;
    const struct mamba2_conv1d_args *args = data;
    const struct graft_batch *batch = args->batch;
    const float *weight = mamba2_widen(call, self->weight, error);
    const float *bias = self->bias != NULL ? mamba2_widen(call, self->bias, error) : NULL;
    if (weight == NULL || (self->bias != NULL && bias == NULL)) {
        return GRAFT_ERROR_INTERNAL;
    }
    for (int32_t s = 0; s < batch->sequences; s++) {
        float *conv_states = graft_state_get(call, batch, self->conv_states, s, error);
        int64_t first = batch->cu_seqlens[s];
        struct work work = {.weight = weight,
                            .bias = bias,
                            .before = conv_states,
                            .x = args->x + first * args->x_stride,
                            .x_stride = args->x_stride,
                            .y = args->y + first * self->channels,
                            .tokens = batch->cu_seqlens[s + 1] - first,
                            .channels = self->channels,
                            .kernel_size = self->kernel_size};
        if (conv_states == NULL) {
            return GRAFT_ERROR_INTERNAL;
        }
        call->threads->parallel_for(self->channels, 1 + WORK_AT_ONCE / (work.tokens * self->kernel_size), convolve,
                                    &work);
        remember(&work, conv_states);
    }
    return GRAFT_OK;
}

const struct graft_vtable mamba2_conv1d_vtable = {.struct_size = sizeof mamba2_conv1d_vtable, .forward = forward};

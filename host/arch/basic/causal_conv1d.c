/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "arch/outline.h"
#include "arch/role.h"
#include "graft/describe.h"
#include "graft/kernels.h"
#include "graft/state.h"

enum {
    MAX_CHANNELS = 1 << 24,
    MAX_KERNEL = 64,
    WORK_AT_ONCE = 1 << 14 /* multiplications below which another thread does not pay */
};

struct causal_conv1d {
    struct graft_instance base;
    int64_t channels;
    int64_t kernel_size;
    const struct graft_weight *weight;     /* [channels, 1, kernel_size] */
    const struct graft_weight *bias;       /* [channels] or NULL */
    const struct graft_state *conv_states; /* [kernel_size - 1, channels] f32 */
};

static void outline(struct graft_outline *of, struct causal_conv1d *self) {
    const char *path = of->sink->path;
    if (graft_args_size(of->args, "channels", MAX_CHANNELS, path, &self->channels, of->error) != GRAFT_OK ||
        graft_args_size(of->args, "kernel_size", MAX_KERNEL, path, &self->kernel_size, of->error) != GRAFT_OK) {
        return;
    }
    if (self->kernel_size < 2) {
        (void)graft_error_set(of->error, GRAFT_ERROR_PLUGIN, path,
                              "argument kernel_size: expected 2 to %d from the parent, got 1", (int)MAX_KERNEL);
    }
    const int64_t weight[] = {self->channels, 1, self->kernel_size};
    const int64_t conv_states[] = {self->kernel_size - 1, self->channels};
    graft_outline_parameter(of, &self->weight, "weight", 3, weight);
    graft_outline_vector(of, &self->bias, graft_args_int(of->args, "bias", 0) != 0 ? "bias" : NULL, self->channels);
    graft_outline_state(of, &self->conv_states, "conv_states", 2, conv_states);
}

GRAFT_OUTLINED(graft_causal_conv1d, struct causal_conv1d)

/* One sequence. */
struct work {
    int64_t channels;
    int64_t kernel_size;
    const float *taps;   /* [kernel_size, channels] */
    const float *bias;   /* [channels] or NULL */
    const float *before; /* the state */
    const float *x;      /* [tokens, channels] */
    float *y;            /* [tokens, channels] */
    int64_t tokens;
};

/* Returns the weight as f32, with the channels of each tap adjacent; NULL with an error set on failure. */
static const float *find_taps(const struct causal_conv1d *self, const struct graft_call *call,
                              struct graft_error *error) {
    int64_t channels = self->channels;
    int64_t kernel_size = self->kernel_size;
    float *taps = graft_scratch_floats(call, kernel_size, channels, error); /* [kernel_size, channels] */
    const float *weight = graft_scratch_widened(call, self->weight, error); /* [channels, kernel_size] */
    if (taps == NULL || weight == NULL) {
        return NULL;
    }
    for (int64_t c = 0; c < channels; c++) {
        for (int64_t k = 0; k < kernel_size; k++) {
            taps[k * channels + c] = weight[c * kernel_size + k];
        }
    }
    return taps;
}

/* The input of token `t`; negative tokens are from earlier forwards and come from the state. */
static const float *input(const struct work *work, int64_t t) {
    return t < 0 ? work->before + (work->kernel_size - 1 + t) * work->channels : work->x + t * work->channels;
}

/* Convolves channels [begin, end) of all tokens. */
static void convolve(void *data, int64_t begin, int64_t end) {
    const struct work *work = data;
    int64_t channels = work->channels;
    for (int64_t t = 0; t < work->tokens; t++) {
        float *y = work->y + t * channels;
        for (int64_t c = begin; c < end; c++) {
            y[c] = work->bias != NULL ? work->bias[c] : 0.0f;
        }
        for (int64_t k = 0; k < work->kernel_size; k++) {
            const float *x = input(work, t + k - (work->kernel_size - 1));
            const float *tap = work->taps + k * channels;
            for (int64_t c = begin; c < end; c++) {
                y[c] += tap[c] * x[c];
            }
        }
    }
}

/* Stores the last inputs in the state. Each row comes from a later one, so none is overwritten before it is read. */
static void remember(const struct work *work, float *conv_states) {
    int64_t rows = work->kernel_size - 1;
    for (int64_t i = 0; i < rows; i++) {
        memcpy(conv_states + i * work->channels, input(work, work->tokens - rows + i),
               (size_t)work->channels * sizeof *conv_states);
    }
}

static int forward(void *instance, const struct graft_call *call, const struct graft_causal_conv1d_args *args,
                   struct graft_error *error) {
    const struct causal_conv1d *self = instance;
    const struct graft_batch *batch = args->batch;
    const float *taps = find_taps(self, call, error);
    const float *bias = self->bias != NULL ? graft_scratch_widened(call, self->bias, error) : NULL;
    if (taps == NULL || (self->bias != NULL && bias == NULL)) {
        return GRAFT_ERROR_INTERNAL;
    }
    for (int32_t s = 0; s < batch->sequences; s++) {
        float *conv_states = graft_state_get(call, batch, self->conv_states, s, error);
        int64_t first = batch->cu_seqlens[s];
        struct work work = {.channels = self->channels,
                            .kernel_size = self->kernel_size,
                            .taps = taps,
                            .bias = bias,
                            .before = conv_states,
                            .x = args->x + first * self->channels,
                            .y = args->y + first * self->channels,
                            .tokens = batch->cu_seqlens[s + 1] - first};
        if (conv_states == NULL) {
            return GRAFT_ERROR_INTERNAL;
        }
        call->threads->parallel_for(self->channels, 1 + WORK_AT_ONCE / (work.tokens * self->kernel_size), convolve,
                                    &work);
        remember(&work, conv_states);
    }
    return GRAFT_OK;
}

const struct graft_causal_conv1d graft_causal_conv1d_vtable = {.struct_size = sizeof graft_causal_conv1d_vtable,
                                                               .forward = forward};

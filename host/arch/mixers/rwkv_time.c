/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time mixing of RWKV (Peng et al. 2023): values weighted by the exponentials of their keys, which decay with each
 * token. A channel keeps the sums of weighted values and of weights, both divided by exp(most), and for each token with
 * key k and value v
 *
 *     y       = (sum + exp(first + k) v) / (weight + exp(first + k))
 *     sum     = exp(-exp(decay)) * sum + exp(k) v
 *     weight  = exp(-exp(decay)) * weight + exp(k)
 */
#include <math.h>

#include "arch/decoder/choices.h"
#include "arch/mixers/token_shift.h"
#include "arch/role.h"
#include "graft/kernels.h"

struct rwkv_time {
    struct graft_instance base;
    int64_t size;                   /* channels */
    struct graft_token_shift shift; /* key, value and receptance */
    const struct graft_module *output;
    const struct graft_weight *time_decay; /* [size] */
    const struct graft_weight *time_first; /* [size] */
    const struct graft_state
        *recurrent_states; /* [3, size] f32: sums, weights, and the logarithm of the number that divides both */
};

static void outline(struct graft_outline *of, struct rwkv_time *self) {
    static const char *const names[][2] = {
        {"key", "time_mix_key"}, {"value", "time_mix_value"}, {"receptance", "time_mix_receptance"}};
    self->size = graft_read_int(&of->reader, D_MIXER_SIZE);
    const int64_t widths[] = {self->size, self->size, self->size}, recurrent_states[] = {3, self->size};
    graft_token_shift_outline(of, &self->shift, names, widths, 3);
    graft_outline_linear(of, &self->output, "output", self->size, graft_outline_hidden_size(of), 0);
    graft_outline_vector(of, &self->time_decay, "time_decay", self->size);
    graft_outline_vector(of, &self->time_first, "time_first", self->size);
    graft_outline_state(of, &self->recurrent_states, "recurrent_states", 2, recurrent_states);
}

GRAFT_OUTLINED(graft_rwkv_time, struct rwkv_time)

/* One sequence: its keys, values, outputs and state, and the module's widened weights. */
struct work {
    int64_t size;
    const float *decay; /* [size]: -exp(time_decay) */
    const float *first; /* [size] */
    int64_t tokens;
    const float *key;   /* [tokens, size] */
    const float *value; /* [tokens, size] */
    float *y;           /* [tokens, size]: the receptance, later multiplied by the weighted values */
    float *state;       /* [3, size] */
};

/* Processes one token of a channel. The largest exponent is subtracted from all exponents, so that none overflows. */
static void run_token(const struct work *work, int64_t t, int64_t c) {
    float *sum = work->state + c, *weight = sum + work->size, *most = weight + work->size;
    const float k = work->key[t * work->size + c], v = work->value[t * work->size + c];
    const float own = work->first[c] + k;
    const float before = *weight > 0.0f ? *most : own; /* at the first token there is no sum yet */
    const float top = own > before ? own : before;
    const float left = expf(before - top), added = expf(own - top);
    work->y[t * work->size + c] *= (left * *sum + added * v) / (left * *weight + added);
    const float decayed = *weight > 0.0f ? *most + work->decay[c] : k;
    const float next = k > decayed ? k : decayed;
    const float kept = expf(decayed - next), taken = expf(k - next);
    *sum = kept * *sum + taken * v;
    *weight = kept * *weight + taken;
    *most = next;
}

/* A parallel body; items are channels. */
static void run_channels(void *data, int64_t begin, int64_t end) {
    const struct work *work = data;
    for (int64_t t = 0; t < work->tokens; t++) {
        for (int64_t c = begin; c < end; c++) {
            run_token(work, t, c);
        }
    }
}

static void recur(const struct rwkv_time *self, const struct graft_pass *pass, const struct graft_batch *batch,
                  const float *key, const float *value, float *y) {
    const int64_t size = self->size;
    float **states = graft_mixer_states(pass, batch, self->recurrent_states);
    float *decay = graft_pass_widen(pass, self->time_decay);
    struct work work = {.size = size, .decay = decay, .first = graft_pass_widen(pass, self->time_first)};
    if (!graft_pass_ok(pass)) {
        return;
    }
    for (int64_t c = 0; c < size; c++) {
        decay[c] = -expf(decay[c]);
    }
    for (int32_t s = 0; s < batch->sequences; s++) {
        const int64_t at = batch->cu_seqlens[s];
        work.tokens = batch->cu_seqlens[s + 1] - at;
        work.key = key + at * size;
        work.value = value + at * size;
        work.y = y + at * size;
        work.state = states[s];
        pass->call->threads->parallel_for(size, 1 + GRAFT_MIXER_WORK / (16 * work.tokens), run_channels, &work);
    }
}

static int forward(void *instance, const struct graft_call *call, const struct graft_mixer_args *args,
                   struct graft_error *error) {
    const struct rwkv_time *self = instance;
    const struct graft_pass pass = {call, args->batch->tokens, error};
    float *made[3]; /* [tokens, size] */
    graft_token_shift_run(&self->shift, &pass, args, made);
    graft_pass_activation(&pass, GRAFT_ACTIVATION_SIGMOID, made[2], self->size);
    recur(self, &pass, args->batch, made[0], made[1], made[2]);
    graft_pass_linear(&pass, self->output, made[2], args->output);
    return error->code;
}

const struct graft_mixer graft_rwkv_time_vtable = {.struct_size = sizeof graft_rwkv_time_vtable, .forward = forward};

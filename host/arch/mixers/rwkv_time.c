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
#include "arch/mixers/mixer.h"
#include "arch/mixers/token_shift.h"
#include "arch/role.h"
#include "graft/describe.h"
#include "graft/kernels.h"
#include "graft/mixer.h"
#include "graft/state.h"

struct sizes {
    int64_t hidden_size;
    int64_t size; /* channels */
};

struct rwkv_time {
    struct graft_instance base;
    struct sizes sizes;
    const struct graft_module *key;
    const struct graft_module *value;
    const struct graft_module *receptance;
    const struct graft_module *output;
    const struct graft_weight *time_mix_key; /* [1, 1, hidden_size], like the next two */
    const struct graft_weight *time_mix_value;
    const struct graft_weight *time_mix_receptance;
    const struct graft_weight *time_decay;  /* [size] */
    const struct graft_weight *time_first;  /* [size] */
    const struct graft_state *shift_states; /* [hidden_size] f32 */
    const struct graft_state
        *recurrent_states; /* [3, size] f32: sums, weights, and the logarithm of the number that divides both */
};

static void describe_parameters(const struct sizes *sizes, const struct graft_sink *sink, struct graft_error *error) {
    static const char *const mixes[] = {"time_mix_key", "time_mix_value", "time_mix_receptance"};
    const int64_t mix[] = {1, 1, sizes->hidden_size};
    const int64_t recurrent_states[] = {3, sizes->size};
    graft_describe_vector(sink, "time_decay", sizes->size, error);
    graft_describe_vector(sink, "time_first", sizes->size, error);
    for (int i = 0; i < 3; i++) {
        graft_describe_parameter(sink, mixes[i], 3, mix, 0, GRAFT_INIT_NONE, error);
    }
    graft_describe_state(sink, "shift_states", 1, &sizes->hidden_size, GRAFT_DTYPE_F32, error);
    graft_describe_state(sink, "recurrent_states", 2, recurrent_states, GRAFT_DTYPE_F32, error);
}

int graft_rwkv_time_describe(const struct graft_class *self, const struct graft_config *config,
                             const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    static const char *const projections[] = {"key", "value", "receptance"};
    struct sizes *sizes = sink->keep(sink->data, sizeof *sizes, error); /* for `create` */
    struct graft_reader reader;
    if (sizes == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    graft_reader_start(&reader, self->data, config, graft_args_int(args, "layer_idx", 0), error);
    *sizes = (struct sizes){graft_args_int(args, "hidden_size", 0), graft_read_int(&reader, D_MIXER_SIZE)};
    for (int i = 0; i < 3; i++) {
        graft_describe_linear(sink, projections[i], sizes->hidden_size, sizes->size, 0, error);
    }
    graft_describe_linear(sink, "output", sizes->size, sizes->hidden_size, 0, error);
    describe_parameters(sizes, sink, error);
    return error->code;
}

int graft_rwkv_time_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                           struct graft_error *error) {
    (void)cls;
    struct rwkv_time *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->sizes = *(const struct sizes *)build->kept;
    self->key = graft_build_child(build, "key", error);
    self->value = graft_build_child(build, "value", error);
    self->receptance = graft_build_child(build, "receptance", error);
    self->output = graft_build_child(build, "output", error);
    self->time_mix_key = graft_build_weight(build, "time_mix_key", error);
    self->time_mix_value = graft_build_weight(build, "time_mix_value", error);
    self->time_mix_receptance = graft_build_weight(build, "time_mix_receptance", error);
    self->time_decay = graft_build_weight(build, "time_decay", error);
    self->time_first = graft_build_weight(build, "time_first", error);
    self->shift_states = graft_build_state(build, "shift_states", error);
    self->recurrent_states = graft_build_state(build, "recurrent_states", error);
    return graft_instance_finish(self, instance, error);
}

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

static int recur(const struct rwkv_time *self, const struct graft_call *call, const struct graft_batch *batch,
                 const float *key, const float *value, float *y, struct graft_error *error) {
    const int64_t size = self->sizes.size;
    float *decay = graft_scratch_widened(call, self->time_decay, error);
    struct work work = {.size = size, .decay = decay, .first = graft_scratch_widened(call, self->time_first, error)};
    if (decay == NULL || work.first == NULL) {
        return GRAFT_ERROR_INTERNAL;
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
        work.state = graft_state_get(call, batch, self->recurrent_states, s, error);
        if (work.state == NULL) {
            return GRAFT_ERROR_INTERNAL;
        }
        call->threads->parallel_for(size, 1 + GRAFT_MIXER_WORK / (16 * work.tokens), run_channels, &work);
    }
    return GRAFT_OK;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_mixer_args *args,
                   struct graft_error *error) {
    const struct rwkv_time *self = instance;
    const struct graft_weight *const mixes[] = {self->time_mix_key, self->time_mix_value, self->time_mix_receptance};
    const struct graft_module *projections[] = {self->key, self->value, self->receptance};
    const int64_t tokens = args->batch->tokens, hidden = self->sizes.hidden_size, size = self->sizes.size;
    struct graft_linear_args projection_args[3];
    float *made[3]; /* [tokens, size] */
    float *shifted = graft_scratch_floats(call, tokens, hidden, error);
    int status = shifted != NULL ? graft_token_shift(call, args->batch, self->shift_states, args->hidden_states, hidden,
                                                     shifted, error)
                                 : GRAFT_ERROR_INTERNAL;
    for (int i = 0; i < 3 && status == GRAFT_OK; i++) {
        made[i] = graft_scratch_floats(call, tokens, size, error);
        projection_args[i] = (struct graft_linear_args){
            sizeof projection_args[i], 0, tokens,
            graft_token_mix(call, mixes[i], args->hidden_states, shifted, tokens, hidden, error), made[i]};
        status = made[i] != NULL && projection_args[i].x != NULL ? GRAFT_OK : GRAFT_ERROR_INTERNAL;
    }
    if (status == GRAFT_OK) {
        status = graft_linear_forward_all(projections, call, projection_args, 3, error);
    }
    if (status == GRAFT_OK) {
        status = call->kernels->activation(call, GRAFT_ACTIVATION_SIGMOID, made[2], tokens * size, made[2], error);
    }
    if (status == GRAFT_OK) {
        status = recur(self, call, args->batch, made[0], made[1], made[2], error);
    }
    if (status == GRAFT_OK) {
        const struct graft_linear_args output_args = {sizeof output_args, 0, tokens, made[2], args->output};
        status = graft_linear_forward(self->output, call, &output_args, error);
    }
    return status;
}

const struct graft_mixer graft_rwkv_time_vtable = {.struct_size = sizeof graft_rwkv_time_vtable, .forward = forward};

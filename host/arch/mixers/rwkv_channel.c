/* SPDX-License-Identifier: Apache-2.0 */
/* The channel mixing of RWKV (Peng et al. 2023), which replaces an MLP: sigmoid(receptance) * value(relu(key)^2), where
 * inputs are mixed with those of the previous token. */
#include "arch/decoder/choices.h"
#include "arch/mixers/token_shift.h"
#include "arch/role.h"
#include "graft/describe.h"
#include "graft/kernels.h"
#include "graft/mixer.h"
#include "graft/state.h"

struct sizes {
    int64_t hidden_size;
    int64_t size; /* numbers inside */
};

struct rwkv_channel {
    struct graft_instance base;
    struct sizes sizes;
    const struct graft_module *key;
    const struct graft_module *receptance;
    const struct graft_module *value;
    const struct graft_weight *time_mix_key; /* [1, 1, hidden_size], like the next one */
    const struct graft_weight *time_mix_receptance;
    const struct graft_state *shift_states; /* [hidden_size] f32 */
};

int graft_rwkv_channel_describe(const struct graft_class *self, const struct graft_config *config,
                                const struct graft_args *args, const struct graft_sink *sink,
                                struct graft_error *error) {
    struct sizes *sizes = sink->keep(sink->data, sizeof *sizes, error); /* for `create` */
    (void)self;
    (void)config;
    if (sizes == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    *sizes = (struct sizes){graft_args_int(args, "hidden_size", 0), graft_args_int(args, "intermediate_size", 0)};
    const int64_t mix[] = {1, 1, sizes->hidden_size};
    graft_describe_linear(sink, "key", sizes->hidden_size, sizes->size, 0, error);
    graft_describe_linear(sink, "receptance", sizes->hidden_size, sizes->hidden_size, 0, error);
    graft_describe_linear(sink, "value", sizes->size, sizes->hidden_size, 0, error);
    graft_describe_parameter(sink, "time_mix_key", 3, mix, 0, GRAFT_INIT_NONE, error);
    graft_describe_parameter(sink, "time_mix_receptance", 3, mix, 0, GRAFT_INIT_NONE, error);
    graft_describe_state(sink, "shift_states", 1, &sizes->hidden_size, GRAFT_DTYPE_F32, error);
    return error->code;
}

int graft_rwkv_channel_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                              struct graft_error *error) {
    (void)cls;
    struct rwkv_channel *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->sizes = *(const struct sizes *)build->kept;
    self->key = graft_build_child(build, "key", error);
    self->receptance = graft_build_child(build, "receptance", error);
    self->value = graft_build_child(build, "value", error);
    self->time_mix_key = graft_build_weight(build, "time_mix_key", error);
    self->time_mix_receptance = graft_build_weight(build, "time_mix_receptance", error);
    self->shift_states = graft_build_state(build, "shift_states", error);
    return graft_instance_finish(self, instance, error);
}

static int forward(void *instance, const struct graft_call *call, const struct graft_mixer_args *args,
                   struct graft_error *error) {
    const struct rwkv_channel *self = instance;
    const int64_t tokens = args->batch->tokens, hidden = self->sizes.hidden_size, size = self->sizes.size;
    const float *x = args->hidden_states;
    float *shifted = graft_scratch_floats(call, tokens, hidden, error);
    float *key = graft_scratch_floats(call, tokens, size, error);          /* [tokens, size] */
    float *receptance = graft_scratch_floats(call, tokens, hidden, error); /* [tokens, hidden_size] */
    int status = shifted != NULL && key != NULL && receptance != NULL
                     ? graft_token_shift(call, args->batch, self->shift_states, x, hidden, shifted, error)
                     : GRAFT_ERROR_INTERNAL;
    if (status != GRAFT_OK) {
        return status;
    }
    const struct graft_module *projections[] = {self->key, self->receptance};
    const struct graft_linear_args projection_args[] = {
        {sizeof(struct graft_linear_args), 0, tokens,
         graft_token_mix(call, self->time_mix_key, x, shifted, tokens, hidden, error), key},
        {sizeof(struct graft_linear_args), 0, tokens,
         graft_token_mix(call, self->time_mix_receptance, x, shifted, tokens, hidden, error), receptance},
    };
    const struct graft_linear_args value_args = {sizeof value_args, 0, tokens, key, args->output};
    if (projection_args[0].x == NULL || projection_args[1].x == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    status = graft_linear_forward_all(projections, call, projection_args, 2, error);
    for (int64_t i = 0; i < tokens * size && status == GRAFT_OK; i++) {
        key[i] = key[i] > 0.0f ? key[i] * key[i] : 0.0f;
    }
    if (status == GRAFT_OK) {
        status = graft_linear_forward(self->value, call, &value_args, error);
    }
    if (status == GRAFT_OK) {
        status =
            call->kernels->activation(call, GRAFT_ACTIVATION_SIGMOID, receptance, tokens * hidden, receptance, error);
    }
    for (int64_t i = 0; i < tokens * hidden && status == GRAFT_OK; i++) {
        args->output[i] *= receptance[i];
    }
    return status;
}

const struct graft_mixer graft_rwkv_channel_vtable = {
    .struct_size = sizeof graft_rwkv_channel_vtable,
    .forward = forward,
};

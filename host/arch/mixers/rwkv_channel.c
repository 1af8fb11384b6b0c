/* SPDX-License-Identifier: Apache-2.0 */
/* The channel mixing of RWKV (Peng et al. 2023), which replaces an MLP: sigmoid(receptance) * value(relu(key)^2), where
 * inputs are mixed with those of the previous token. */
#include "arch/mixers/token_shift.h"
#include "arch/role.h"
#include "graft/kernels.h"

struct rwkv_channel {
    struct graft_instance base;
    int64_t hidden_size;
    int64_t size;                   /* numbers inside */
    struct graft_token_shift shift; /* key and receptance */
    const struct graft_module *value;
};

static void outline(struct graft_outline *of, struct rwkv_channel *self) {
    static const char *const names[][2] = {{"key", "time_mix_key"}, {"receptance", "time_mix_receptance"}};
    self->hidden_size = graft_outline_hidden_size(of);
    self->size = graft_args_int(of->args, "intermediate_size", 0);
    const int64_t widths[] = {self->size, self->hidden_size};
    graft_token_shift_outline(of, &self->shift, names, widths, 2);
    graft_outline_linear(of, &self->value, "value", self->size, self->hidden_size, 0);
}

GRAFT_OUTLINED(graft_rwkv_channel, struct rwkv_channel)

static int forward(void *instance, const struct graft_call *call, const struct graft_mixer_args *args,
                   struct graft_error *error) {
    const struct rwkv_channel *self = instance;
    const struct graft_pass pass = {call, args->batch->tokens, error};
    const int64_t hidden = self->hidden_size, size = self->size;
    float *made[2]; /* key [tokens, size], receptance [tokens, hidden_size] */
    graft_token_shift_run(&self->shift, &pass, args, made);
    for (int64_t i = 0; error->code == GRAFT_OK && i < pass.rows * size; i++) {
        made[0][i] = made[0][i] > 0.0f ? made[0][i] * made[0][i] : 0.0f;
    }
    graft_pass_linear(&pass, self->value, made[0], args->output);
    graft_pass_activation(&pass, GRAFT_ACTIVATION_SIGMOID, made[1], hidden);
    for (int64_t i = 0; error->code == GRAFT_OK && i < pass.rows * hidden; i++) {
        args->output[i] *= made[1][i];
    }
    return error->code;
}

const struct graft_mixer graft_rwkv_channel_vtable = {.struct_size = sizeof graft_rwkv_channel_vtable,
                                                      .forward = forward};

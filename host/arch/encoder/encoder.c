/* SPDX-License-Identifier: Apache-2.0 */
/* The layers, one after another. */
#include "arch/encoder/encoder_config.h"
#include "arch/role.h"
#include "graft/describe.h"

struct encoder {
    struct graft_instance base;
    int64_t n_layers;
    const struct graft_module *layers[]; /* [n_layers] */
};

enum { MAX_NAME = 32 };

static void layer_name(int64_t layer, char name[MAX_NAME]) {
    (void)snprintf(name, MAX_NAME, "layer.%lld", (long long)layer);
}

int graft_encoder_describe(const struct graft_class *self, const struct graft_config *config,
                           const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    const struct graft_encoder_traits *traits = self->data;
    const struct graft_encoder_config *encoder;
    (void)args;
    int status = graft_encoder_config_keep(config, traits, sink, &encoder, error);
    for (int64_t i = 0; status == GRAFT_OK && i < encoder->num_hidden_layers; i++) {
        char name[MAX_NAME];
        const struct graft_arg layer_args[] = {graft_int_arg("layer_idx", i)};
        layer_name(i, name);
        status = graft_describe_child(sink, name, traits->layer, GRAFT_INTERFACE_ENCODER_LAYER, layer_args, 1, error);
    }
    return status;
}

int graft_encoder_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                         struct graft_error *error) {
    const struct graft_encoder_config *encoder = build->kept;
    (void)cls;
    size_t layers = (size_t)encoder->num_hidden_layers;
    struct encoder *self = graft_instance_new(build, sizeof *self + layers * sizeof self->layers[0], error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->n_layers = encoder->num_hidden_layers;
    for (int64_t i = 0; i < self->n_layers; i++) {
        char name[MAX_NAME];
        layer_name(i, name);
        self->layers[i] = graft_build_child(build, name, error);
    }
    return graft_instance_finish(self, instance, error);
}

static int forward(void *instance, const struct graft_call *call, const struct graft_encoder_args *args,
                   struct graft_error *error) {
    const struct encoder *self = instance;
    const struct graft_encoder_layer_args layer_args = {
        .struct_size = sizeof layer_args,
        .batch = args->batch,
        .hidden_states = args->hidden_states,
        .mask = args->mask,
    };
    int status = GRAFT_OK;
    for (int64_t i = 0; i < self->n_layers && status == GRAFT_OK; i++) {
        status = graft_encoder_layer_forward(self->layers[i], call, &layer_args, error);
    }
    return status;
}

const struct graft_encoder graft_encoder_vtable = {
    .struct_size = sizeof graft_encoder_vtable,
    .forward = forward,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* The rotary angles of a decoder: those of its config, for whole heads. */
#include "arch/decoder/decoder_config.h"
#include "arch/role.h"
#include "graft/rope.h"

struct rotary {
    struct graft_instance base;
    const struct graft_rope_service *service;
    struct graft_rope *rope;
};

/* The rotation that the config describes. */
static int make_rope(const struct graft_config *whole, const struct graft_decoder_traits *traits,
                     const struct graft_decoder_config *decoder, const struct graft_rope_service *service,
                     struct graft_rope **rope, struct graft_error *error) {
    struct graft_config_section section;
    const struct graft_config *config = graft_decoder_config_part(whole, traits, &section, error);
    const struct graft_rope_info info = {
        .struct_size = sizeof info,
        .head_dim = decoder->head_dim,
        .max_position_embeddings = decoder->max_position_embeddings,
        .rope_theta = decoder->rope_theta,
        .mrope_section = {decoder->mrope_section[0], decoder->mrope_section[1], decoder->mrope_section[2]},
    };
    int status = config != NULL ? service->create(config, &info, rope, error) : GRAFT_ERROR_MODEL;
    if (status == GRAFT_OK && service->width(*rope) != decoder->head_dim) {
        status = graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                                 "%s: %g is not supported, expected 1: this family rotates whole heads",
                                 graft_config_spelling(config, "partial_rotary_factor"),
                                 (double)service->width(*rope) / (double)decoder->head_dim);
        service->destroy(*rope);
    }
    return status;
}

int graft_rotary_describe(const struct graft_class *self, const struct graft_config *config,
                          const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    const struct graft_rope_service *service = graft_rope_service_of(sink->host);
    const struct graft_decoder_config *decoder;
    struct graft_rope *rope = NULL;
    (void)args;
    int status = graft_decoder_config_keep(config, self->data, sink, &decoder, error);
    if (status == GRAFT_OK) {
        status = make_rope(config, self->data, decoder, service, &rope, error);
    }
    if (status == GRAFT_OK) {
        service->destroy(rope);
    }
    return status;
}

int graft_rotary_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                        struct graft_error *error) {
    struct rotary *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->service = graft_rope_service_of(build->host);
    int status = make_rope(build->config, cls->data, build->kept, self->service, &self->rope, error);
    return graft_instance_finish(self, status, instance);
}

void graft_rotary_destroy(void *instance) {
    struct rotary *self = instance;
    self->service->destroy(self->rope);
    graft_instance_destroy(self);
}

static int forward(void *instance, const struct graft_call *call, const struct graft_rotary_args *args,
                   struct graft_error *error) {
    const struct rotary *self = instance;
    int64_t width = self->service->width(self->rope);
    if (args->head_dim != width) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, self->base.path, "head_dim: expected %lld, got %lld",
                               (long long)width, (long long)args->head_dim);
    }
    return self->service->angles(self->rope, call, args->batch, args->cos, args->sin, error);
}

const struct graft_rotary graft_rotary_vtable = {
    .struct_size = sizeof graft_rotary_vtable,
    .forward = forward,
};

/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "graft/describe.h"
#include "graft/rope.h"
#include "parts.h"

struct rotary {
    const struct graft_rope_service *service;
    struct graft_rope *rope;
};

static int make_rope(const struct parts_rotary *defaults, const struct graft_config *config,
                     const struct graft_host *host, struct rotary *made, struct graft_error *error) {
    struct parts_sizes sizes;
    int status = parts_read_sizes(config, &sizes, error);
    if (status != GRAFT_OK) {
        return status;
    }
    const struct graft_rope_info info = {
        .struct_size = sizeof info,
        .head_dim = sizes.hidden_size / sizes.num_attention_heads,
        .max_position_embeddings = sizes.max_position_embeddings,
        .rope_theta = defaults->rope_theta,
        .partial_rotary_factor = defaults->partial_rotary_factor,
    };
    made->service = graft_rope_service_of(host);
    return made->service->create(config, &info, &made->rope, error);
}

int parts_rotary_width(const struct parts_rotary *defaults, const struct graft_config *config,
                       const struct graft_host *host, int64_t *width, struct graft_error *error) {
    struct rotary made;
    int status = make_rope(defaults, config, host, &made, error);
    if (status == GRAFT_OK) {
        *width = made.service->width(made.rope);
        made.service->destroy(made.rope);
    }
    return status;
}

int parts_rotary_describe(const struct graft_class *self, const struct graft_config *config,
                          const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    int64_t width;
    (void)args;
    return parts_rotary_width(self->data, config, sink->host, &width, error);
}

int parts_rotary_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                        struct graft_error *error) {
    struct rotary *self = calloc(1, sizeof *self);
    if (self == NULL) {
        return graft_fail_memory(error, build->path);
    }
    int status = make_rope(cls->data, build->config, build->host, self, error);
    if (status != GRAFT_OK) {
        free(self);
        return status;
    }
    *instance = self;
    return GRAFT_OK;
}

void parts_rotary_destroy(void *instance) {
    struct rotary *self = instance;
    self->service->destroy(self->rope);
    free(self);
}

static int forward(void *instance, const struct graft_call *call, const struct graft_rotary_args *args,
                   struct graft_error *error) {
    const struct rotary *self = instance;
    int64_t width = self->service->width(self->rope);
    return args->head_dim == width
               ? self->service->angles(self->rope, call, args->batch, args->cos, args->sin, error)
               : graft_error_set(error, GRAFT_ERROR_PLUGIN, "rotary_emb", "head_dim: expected %lld, got %lld",
                                 (long long)width, (long long)args->head_dim);
}

const struct graft_rotary parts_rotary_vtable = {
    .struct_size = sizeof parts_rotary_vtable,
    .forward = forward,
};

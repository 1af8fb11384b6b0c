/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "graft/parts.h"
#include "graft/rope.h"

enum { MAX_OBJECT = 96 };

struct rotary {
    struct graft_instance base;
    const struct graft_rope_service *service;
    struct graft_rope *ropes[GRAFT_PARTS_LAYER_TYPES];
};

/* rope_parameters has an object for each type of layer. Older configs have a field for each base instead, and one
 * rope_scaling. A config with both is refused, since it is undefined which counts. */
static int find_object(const struct graft_parts_rotary_type *type, const struct graft_config *config,
                       char object[MAX_OBJECT], struct graft_error *error) {
    int32_t is_new = graft_config_has(config, "rope_parameters");
    if (is_new && config->size(config->data, "rope_scaling") > 0) {
        return graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                               "rope_scaling: not supported beside rope_parameters");
    }
    if (!is_new && type->scaled) {
        (void)snprintf(object, MAX_OBJECT, "rope_scaling");
    } else {
        (void)snprintf(object, MAX_OBJECT, "rope_parameters.%.64s", type->layer_type);
    }
    return GRAFT_OK;
}

static int make_rope(const struct graft_parts_rotary_type *type, const struct graft_config *config,
                     const struct graft_rope_service *service, struct graft_rope **rope, struct graft_error *error) {
    struct graft_parts_sizes sizes;
    char object[MAX_OBJECT];
    double rope_theta = type->rope_theta;
    int status = graft_parts_read_sizes(config, &sizes, error);
    if (status == GRAFT_OK) {
        status = graft_config_real(config, type->rope_theta_field, 0.0, &rope_theta, error);
    }
    if (status == GRAFT_OK) {
        status = find_object(type, config, object, error);
    }
    if (status != GRAFT_OK) {
        return status;
    }
    const struct graft_rope_info info = {
        .struct_size = sizeof info,
        .object = object,
        .head_dim = sizes.head_dim,
        .max_position_embeddings = sizes.max_position_embeddings,
        .rope_theta = rope_theta,
        .whole_heads = 1,
    };
    status = service->create(config, &info, rope, error);
    return status == GRAFT_OK && service->width(*rope) != sizes.head_dim
               ? graft_error_set(error, GRAFT_ERROR_MODEL, config->file,
                                 "%s.partial_rotary_factor: expected 1: the model rotates whole heads", object)
               : status;
}

/* Makes the ropes of all types of layers; after an error it leaves none. */
static int make_ropes(const struct graft_parts_typed_rotary *part, const struct graft_config *config,
                      const struct graft_rope_service *service, struct graft_rope *ropes[GRAFT_PARTS_LAYER_TYPES],
                      struct graft_error *error) {
    int status = GRAFT_OK;
    for (int32_t i = 0; i < GRAFT_PARTS_LAYER_TYPES && status == GRAFT_OK; i++) {
        status = make_rope(&part->types[i], config, service, &ropes[i], error);
    }
    for (int32_t i = 0; i < GRAFT_PARTS_LAYER_TYPES && status != GRAFT_OK; i++) {
        service->destroy(ropes[i]);
        ropes[i] = NULL;
    }
    return status;
}

int graft_parts_typed_rotary_describe(const struct graft_class *self, const struct graft_config *config,
                                      const struct graft_args *args, const struct graft_sink *sink,
                                      struct graft_error *error) {
    const struct graft_rope_service *service = graft_rope_service_of(sink->host);
    struct graft_rope *ropes[GRAFT_PARTS_LAYER_TYPES] = {NULL};
    (void)args;
    int status = make_ropes(self->data, config, service, ropes, error);
    for (int32_t i = 0; i < GRAFT_PARTS_LAYER_TYPES && status == GRAFT_OK; i++) {
        service->destroy(ropes[i]);
    }
    return status;
}

int graft_parts_typed_rotary_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                                    struct graft_error *error) {
    struct rotary *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->service = graft_rope_service_of(build->host);
    (void)make_ropes(cls->data, build->config, self->service, self->ropes, error);
    return graft_instance_finish(self, instance, error);
}

void graft_parts_typed_rotary_destroy(void *instance) {
    struct rotary *self = instance;
    for (int32_t i = 0; i < GRAFT_PARTS_LAYER_TYPES; i++) {
        self->service->destroy(self->ropes[i]);
    }
    graft_instance_destroy(self);
}

static int forward(void *instance, const struct graft_call *call, const struct graft_rotary_args *args,
                   struct graft_error *error) {
    const struct rotary *self = instance;
    int32_t type = args->layer_type;
    if (type < 0 || type >= GRAFT_PARTS_LAYER_TYPES) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, self->base.path, "layer_type: expected 0 to %d, got %d",
                               GRAFT_PARTS_LAYER_TYPES - 1, (int)type);
    }
    int64_t width = self->service->width(self->ropes[type]);
    return args->head_dim == width
               ? self->service->angles(self->ropes[type], call, args->batch, args->cos, args->sin, error)
               : graft_error_set(error, GRAFT_ERROR_PLUGIN, self->base.path, "head_dim: expected %lld, got %lld",
                                 (long long)width, (long long)args->head_dim);
}

const struct graft_rotary graft_parts_typed_rotary_vtable = {
    .struct_size = sizeof graft_parts_typed_rotary_vtable,
    .features = GRAFT_ROTARY_LAYER_TYPES,
    .forward = forward,
};

/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "graft/parts.h"
#include "graft/rope.h"

struct rotary {
    struct graft_instance base;
    const struct graft_rope_service *service;
    struct graft_rope *rope;
};

static int read_info(const struct graft_parts_rotary *part, const struct graft_config *config,
                     struct graft_rope_info *info, struct graft_error *error) {
    struct graft_parts_sizes sizes;
    int status = graft_parts_read_sizes(config, &sizes, error);
    *info = (struct graft_rope_info){
        .struct_size = sizeof *info,
        .head_dim = sizes.head_dim,
        .max_position_embeddings = sizes.max_position_embeddings,
        .rope_theta = part->rope_theta,
        .partial_rotary_factor = part->partial_rotary_factor,
    };
    return status;
}

static int make_rope(const struct graft_parts_rotary *part, const struct graft_config *config,
                     const struct graft_rope_service *service, struct graft_rope **rope, struct graft_error *error) {
    struct graft_rope_info info;
    int status = read_info(part, config, &info, error);
    return status == GRAFT_OK ? service->create(config, &info, rope, error) : status;
}

int graft_parts_rotary_width(const struct graft_parts_rotary *part, const struct graft_config *config,
                             const struct graft_host *host, int64_t *width, struct graft_error *error) {
    const struct graft_rope_service *service = graft_rope_service_of(host);
    struct graft_rope *rope = NULL;
    int status = make_rope(part, config, service, &rope, error);
    if (status == GRAFT_OK) {
        *width = service->width(rope);
        service->destroy(rope);
    }
    return status;
}

int graft_parts_rope_changes(const struct graft_host *host, const struct graft_config *config,
                             const struct graft_rope_info *info, int64_t length, int32_t *changes,
                             struct graft_error *error) {
    const struct graft_rope_service *service = graft_rope_service_of(host);
    struct graft_rope *rope = NULL;
    int status = service->create(config, info, &rope, error);
    if (status != GRAFT_OK) {
        return status;
    }
    int64_t n = service->width(rope) / 2;
    float *numbers = calloc(2 * (size_t)n, sizeof *numbers);
    if (numbers == NULL) {
        status = graft_fail_memory(error, config->file);
    } else {
        float factor = service->frequencies(rope, length, numbers);
        float next = service->frequencies(rope, length + 1, numbers + n);
        *changes = factor != next || memcmp(numbers, numbers + n, (size_t)n * sizeof *numbers) != 0;
    }
    free(numbers);
    service->destroy(rope);
    return status;
}

int graft_parts_rotary_changes(const struct graft_parts_rotary *part, const struct graft_config *config,
                               const struct graft_host *host, int64_t length, int32_t *changes,
                               struct graft_error *error) {
    struct graft_rope_info info;
    int status = read_info(part, config, &info, error);
    return status == GRAFT_OK ? graft_parts_rope_changes(host, config, &info, length, changes, error) : status;
}

int graft_parts_rotary_describe(const struct graft_class *self, const struct graft_config *config,
                                const struct graft_args *args, const struct graft_sink *sink,
                                struct graft_error *error) {
    int64_t width;
    (void)args;
    return graft_parts_rotary_width(self->data, config, sink->host, &width, error);
}

int graft_parts_rotary_make(const struct graft_build *build, const struct graft_config *config,
                            const struct graft_rope_info *info, void **instance, struct graft_error *error) {
    struct rotary *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->service = graft_rope_service_of(build->host);
    (void)self->service->create(config, info, &self->rope, error);
    return graft_instance_finish(self, instance, error);
}

int graft_parts_rotary_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                              struct graft_error *error) {
    struct graft_rope_info info;
    int status = read_info(cls->data, build->config, &info, error);
    return status == GRAFT_OK ? graft_parts_rotary_make(build, build->config, &info, instance, error) : status;
}

void graft_parts_rotary_destroy(void *instance) {
    struct rotary *self = instance;
    self->service->destroy(self->rope);
    graft_instance_destroy(self);
}

static int forward(void *instance, const struct graft_call *call, const struct graft_rotary_args *args,
                   struct graft_error *error) {
    const struct rotary *self = instance;
    int64_t width = self->service->width(self->rope);
    return args->head_dim == width
               ? self->service->angles(self->rope, call, args->batch, args->cos, args->sin, error)
               : graft_error_set(error, GRAFT_ERROR_PLUGIN, self->base.path, "head_dim: expected %lld, got %lld",
                                 (long long)width, (long long)args->head_dim);
}

const struct graft_rotary graft_parts_rotary_vtable = {
    .struct_size = sizeof graft_parts_rotary_vtable,
    .forward = forward,
};

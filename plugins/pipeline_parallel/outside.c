/* SPDX-License-Identifier: Apache-2.0 */
/* Modules outside of the layers. Those before them, such as embeddings and a vision tower, belong to the first stage;
 * those after them, a norm and the head, to the last. The other stages call them as well, get zeros, and then replace
 * these by the hidden states that they receive. */
#include <string.h>

#include "graft/decoder_layer.h"
#include "graft/embedding.h"
#include "graft/instance.h"
#include "graft/linear.h"
#include "graft/norm.h"
#include "graft/vision_tower.h"
#include "pipeline_parallel.h"

struct outside_sizes {
    int64_t width;      /* width of its outputs */
    int64_t merge_size; /* of a vision tower: a square of merge_size by merge_size patches becomes one vector; else 0 */
};

struct outside {
    struct graft_instance base;
    const struct graft_module *super; /* NULL: another stage has it */
    struct outside_sizes sizes;
};

/* The class's `data` is the name of the argument that gives the width of the outputs. */
static int describe(const struct graft_class *self, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    const struct graft_parallel *parallel = pipeline_parallel_ranks();
    struct outside_sizes *sizes = sink->keep(sink->data, sizeof *sizes, error);
    (void)config;
    if (sizes == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    sizes->width = graft_args_int(args, self->data, 0);
    sizes->merge_size = graft_args_int(args, "spatial_merge_size", 0);
    int in_front = sink->comes_before(sink->data, GRAFT_INTERFACE_DECODER_LAYER);
    int32_t stage = in_front ? 0 : parallel->size - 1;
    if (stage == pipeline_parallel_stage(parallel)) {
        return GRAFT_OK;
    }
    return sink->elsewhere(sink->data, error);
}

static int create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                  struct graft_error *error) {
    struct outside *self = graft_instance_new(build, sizeof *self, error);
    (void)cls;
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->super = build->super;
    self->sizes = *(const struct outside_sizes *)build->kept;
    return graft_instance_finish(self, instance, error);
}

static int zeros(const struct outside *self, float *output, int64_t tokens) {
    memset(output, 0, (size_t)(tokens * self->sizes.width) * sizeof *output);
    return GRAFT_OK;
}

static int embedding_forward(void *instance, const struct graft_call *call, const struct graft_embedding_args *args,
                             struct graft_error *error) {
    const struct outside *self = instance;
    return self->super != NULL ? graft_embedding_forward(self->super, call, args, error)
                               : zeros(self, args->output, args->tokens);
}

static int norm_forward(void *instance, const struct graft_call *call, const struct graft_norm_args *args,
                        struct graft_error *error) {
    const struct outside *self = instance;
    return self->super != NULL ? graft_norm_forward(self->super, call, args, error)
                               : zeros(self, args->output, args->tokens);
}

static int linear_forward(void *instance, const struct graft_call *call, const struct graft_linear_args *args,
                          struct graft_error *error) {
    const struct outside *self = instance;
    return self->super != NULL ? graft_linear_forward(self->super, call, args, error)
                               : zeros(self, args->y, args->tokens);
}

static int32_t as_product(void *instance, const struct graft_linear_args *args, struct graft_product *product) {
    const struct outside *self = instance;
    return self->super != NULL ? graft_linear_pass_product(self->super, args, product) : 0;
}

/* Fills one vector for each merged patch of the image's grid. */
static int tower_forward(void *instance, const struct graft_call *call, const struct graft_vision_tower_args *args,
                         struct graft_error *error) {
    const struct outside *self = instance;
    const int64_t *grid = args->image->grid;
    int64_t merged = grid[0] * grid[1] * grid[2] / (self->sizes.merge_size * self->sizes.merge_size);
    return self->super != NULL ? graft_vision_tower_forward(self->super, call, args, error)
                               : zeros(self, args->output, merged);
}

static const struct graft_embedding embedding_vtable = {.struct_size = sizeof embedding_vtable,
                                                        .forward = embedding_forward};
static const struct graft_norm norm_vtable = {.struct_size = sizeof norm_vtable, .forward = norm_forward};
static const struct graft_linear linear_vtable = {
    .struct_size = sizeof linear_vtable, .forward = linear_forward, .as_product = as_product};
static const struct graft_vision_tower tower_vtable = {.struct_size = sizeof tower_vtable, .forward = tower_forward};

#define OUTSIDE_CLASS(class_name, interface, width, vtable)                                                     \
    {                                                                                                           \
        .struct_size = sizeof(struct graft_class), .flags = GRAFT_CLASS_CALLS_SUPER, .name = (class_name),      \
        .interface_id = (interface), .describe = describe, .create = create, .destroy = graft_instance_destroy, \
        .forward = &(vtable), .data = (width)                                                                   \
    }

const struct graft_class pipeline_parallel_embedding =
    OUTSIDE_CLASS("PipelineParallelEmbedding", GRAFT_INTERFACE_EMBEDDING, "embedding_dim", embedding_vtable);
const struct graft_class pipeline_parallel_norm =
    OUTSIDE_CLASS("PipelineParallelNorm", GRAFT_INTERFACE_NORM, "hidden_size", norm_vtable);
const struct graft_class pipeline_parallel_linear =
    OUTSIDE_CLASS("PipelineParallelLinear", GRAFT_INTERFACE_LINEAR, "out_features", linear_vtable);
const struct graft_class pipeline_parallel_tower =
    OUTSIDE_CLASS("PipelineParallelVisionTower", GRAFT_INTERFACE_VISION_TOWER, "hidden_size", tower_vtable);

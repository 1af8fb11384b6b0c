/* SPDX-License-Identifier: Apache-2.0 */
/* A block of experts, summed over the ranks once: its experts and the shared expert compute partial sums here, and the
 * block only weights and adds them. The shared expert is divided by its width, so that ranks have equal work. */
#include "expert_parallel.h"
#include "graft/describe.h"
#include "graft/instance.h"
#include "graft/mlp.h"

enum { MAX_SIZE = 1 << 20 };

struct kept {
    int64_t hidden_size;
    int32_t is_part; /* super's result is a partial sum */
};

struct mlp {
    struct graft_instance base;
    const struct graft_module *super;
    struct kept kept;
};

static int create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                  struct graft_error *error) {
    struct mlp *self = graft_instance_new(build, sizeof *self, error);
    (void)cls;
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->super = build->super;
    self->kept = *(const struct kept *)build->kept;
    return graft_instance_finish(self, instance, error);
}

/* --- The block --- */

static int block_describe(const struct graft_class *self, const struct graft_config *config,
                          const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    struct kept *kept = sink->keep(sink->data, sizeof *kept, error);
    (void)self;
    (void)config;
    return kept != NULL ? graft_args_size(args, "hidden_size", MAX_SIZE, sink->path, &kept->hidden_size, error)
                        : GRAFT_ERROR_INTERNAL;
}

/* Experts that compute the sum themselves leave nothing to sum here. */
static int block_forward(void *instance, const struct graft_call *call, const struct graft_mlp_args *args,
                         struct graft_error *error) {
    const struct mlp *self = instance;
    struct block block, *outer;
    expert_parallel_begin_block(&block, &outer);
    int status = graft_mlp_forward(self->super, call, args, error);
    expert_parallel_end_block(outer);
    return status == GRAFT_OK && block.n_parts > 0
               ? expert_parallel_ranks()->allreduce(args->output, args->tokens * self->kept.hidden_size, error)
               : status;
}

/* --- The shared expert --- */

static int shared_describe(const struct graft_class *self, const struct graft_config *config,
                           const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    static const struct slice slices[] = {
        {"gate_proj.weight", 0, 1, 0}, {"up_proj.weight", 0, 1, 0}, {"down_proj.weight", 1, 1, 0}};
    struct kept *kept = sink->keep(sink->data, sizeof *kept, error);
    int64_t width = 0;
    int divides = 0;
    struct run run;
    (void)self;
    if (kept == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    graft_args_size(args, "hidden_size", MAX_SIZE, sink->path, &kept->hidden_size, error);
    expert_parallel_divides(config, sink->path, &divides, error);
    if (error->code != GRAFT_OK || !divides) {
        return error->code;
    }
    kept->is_part = 1;
    if (graft_args_size(args, "intermediate_size", MAX_SIZE, sink->path, &width, error) != GRAFT_OK ||
        expert_parallel_width(width, sink->path, &run, error) != GRAFT_OK) {
        return error->code;
    }
    for (size_t i = 0; i < sizeof slices / sizeof slices[0]; i++) {
        expert_parallel_slice(sink, &slices[i], &run, error);
    }
    const struct graft_arg own = graft_int_arg("intermediate_size", run.end - run.begin);
    const struct graft_args given = graft_args_of(&own, 1);
    sink->super(sink->data, &given, error);
    return error->code;
}

static int shared_forward(void *instance, const struct graft_call *call, const struct graft_mlp_args *args,
                          struct graft_error *error) {
    const struct mlp *self = instance;
    int status = graft_mlp_forward(self->super, call, args, error);
    return status == GRAFT_OK && self->kept.is_part
               ? expert_parallel_sum(args->output, args->tokens * self->kept.hidden_size, error)
               : status;
}

static const struct graft_mlp block_vtable = {.struct_size = sizeof block_vtable, .forward = block_forward};
static const struct graft_mlp shared_vtable = {.struct_size = sizeof shared_vtable, .forward = shared_forward};

#define MLP_CLASS(class_name, describe_function, vtable)                                                   \
    {                                                                                                      \
        .struct_size = sizeof(struct graft_class), .flags = GRAFT_CLASS_CALLS_SUPER, .name = (class_name), \
        .interface_id = GRAFT_INTERFACE_MLP, .describe = (describe_function), .create = create,            \
        .destroy = graft_instance_destroy, .forward = &(vtable)                                            \
    }

const struct graft_class expert_parallel_block = MLP_CLASS("ExpertParallelBlock", block_describe, block_vtable);
const struct graft_class expert_parallel_shared =
    MLP_CLASS("ExpertParallelSharedExpert", shared_describe, shared_vtable);

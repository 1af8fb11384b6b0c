/* SPDX-License-Identifier: Apache-2.0 */
/* Linears. One that is divided by its inputs sums the ranks' partial results, and adds the bias once. One that gathers
 * its outputs computes a range of them. All others are unchanged. */
#include "graft/linear.h"

#include <string.h>

#include "graft/describe.h"
#include "graft/instance.h"
#include "tensor_parallel.h"

struct kept {
    enum style style;
    int64_t in_features; /* all inputs; with a share of the inputs, those of this rank */
    int64_t out_features;
    int64_t share; /* outputs of each rank; the last ranks may have fewer */
};

struct linear {
    struct graft_instance base;
    const struct graft_module *super;
    const struct graft_weight *bias; /* bias that is added to the sum; NULL: none */
    struct kept kept;
};

/* --- The wrapped module's weights --- */

/* Declares the bias, which is added here, to the sum. A quantized module may have one even if the architecture has
 * none. */
static int describe_sum(const struct graft_config *config, const struct graft_args *args, const struct graft_sink *sink,
                        struct kept *kept, struct graft_error *error) {
    const struct graft_parallel *ranks = tensor_parallel_ranks();
    const struct graft_operation share = tensor_parallel_share();
    int splits = kept->style == STYLE_ROWWISE_SPLIT_INPUT;
    int64_t inputs = splits ? kept->in_features : kept->in_features * ranks->size;
    if (inputs % ranks->size != 0) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "tensor_parallel",
                               "in_features %lld cannot be divided among %ld processes (%s)", (long long)inputs,
                               (long)ranks->size, sink->path);
    }
    kept->in_features = inputs / ranks->size;
    const struct graft_arg more[] = {graft_int_arg("bias", 0), graft_int_arg("in_features", kept->in_features),
                                     graft_int_arg("whole_in_features", inputs)};
    const struct graft_args given = graft_args_of(more, 3);
    sink->share(sink->data, "", GRAFT_SHARE_INPUTS, &share, error);
    sink->super(sink->data, &given, error);
    const int32_t has_bias = graft_args_int(args, "bias", 1) != 0;
    if (has_bias || graft_config_has(config, "quantization_config")) {
        graft_describe_parameter(sink, "bias", 1, &kept->out_features, 0,
                                 has_bias ? GRAFT_INIT_NONE : GRAFT_INIT_ABSENT, error);
    }
    return error->code;
}

/* The first output of a rank, which is the end of the rank before. */
static int64_t begin_of(const struct kept *kept, int32_t rank) {
    return rank * kept->share < kept->out_features ? rank * kept->share : kept->out_features;
}

static int describe_run(const struct graft_sink *sink, const struct kept *kept, struct graft_error *error) {
    const struct graft_parallel *ranks = tensor_parallel_ranks();
    int64_t begin = begin_of(kept, ranks->rank), own = begin_of(kept, ranks->rank + 1) - begin;
    int is_even = kept->share * ranks->size == kept->out_features;
    struct graft_operation share = tensor_parallel_share();
    if (!is_even) {
        share.begin = begin;
        share.length = own;
        share.of = kept->out_features;
    }
    const struct graft_arg more[] = {graft_int_arg("out_features", own),
                                     graft_int_arg("whole_out_features", kept->out_features)};
    const struct graft_args given = graft_args_of(more, 2);
    if (begin_of(kept, ranks->size - 1) == kept->out_features) {
        return graft_error_set(error, GRAFT_ERROR_USAGE, "tensor_parallel",
                               "out_features %lld cannot be divided among %ld processes (%s)",
                               (long long)kept->out_features, (long)ranks->size, sink->path);
    }
    sink->share(sink->data, "", GRAFT_SHARE_OUTPUTS, &share, error);
    sink->super(sink->data, &given, error);
    return error->code;
}

/* For a Linear that the block above divides: tells the wrapped module the sizes of the whole weight. */
static int describe_share(const struct graft_sink *sink, const struct kept *kept, struct graft_error *error) {
    const struct graft_arg whole =
        graft_int_arg("whole_out_features", kept->out_features * tensor_parallel_ranks()->size);
    const struct graft_args given = graft_args_of(&whole, 1);
    return sink->super(sink->data, &given, error);
}

static int describe(const struct graft_class *self, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    int32_t size = tensor_parallel_ranks()->size;
    struct kept *kept = sink->keep(sink->data, sizeof *kept, error);
    struct scheme scheme;
    (void)self;
    if (kept == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    if (size == 1 || tensor_parallel_leaves(sink->path)) {
        return GRAFT_OK;
    }
    if (tensor_parallel_scheme(config, &scheme, error) != GRAFT_OK) {
        return error->code;
    }
    kept->style = scheme_style(&scheme, sink->path);
    kept->in_features = graft_args_int(args, "in_features", 0);
    kept->out_features = graft_args_int(args, "out_features", 0);
    kept->share = (kept->out_features + size - 1) / size;
    switch (kept->style) {
    case STYLE_ROWWISE:
    case STYLE_ROWWISE_SPLIT_INPUT:
        return describe_sum(config, args, sink, kept, error);
    case STYLE_COLWISE_GATHER_OUTPUT:
        return describe_run(sink, kept, error);
    case STYLE_COLWISE:
    case STYLE_PACKED_COLWISE:
        return describe_share(sink, kept, error);
    default:
        return GRAFT_OK;
    }
}

static int create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                  struct graft_error *error) {
    struct linear *self = graft_instance_new(build, sizeof *self, error);
    (void)cls;
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->kept = *(const struct kept *)build->kept;
    self->super = build->super;
    self->bias = build->weight(build->data, "bias");
    return graft_instance_finish(self, instance, error);
}

/* --- Forward --- */

static int add_bias(const struct linear *self, const struct graft_call *call, const struct graft_linear_args *args,
                    struct graft_error *error) {
    const float *bias = graft_scratch_widened(call, self->bias, error);
    for (int64_t t = 0; t < args->tokens && bias != NULL; t++) {
        for (int64_t i = 0; i < self->kept.out_features; i++) {
            args->y[t * self->kept.out_features + i] += bias[i];
        }
    }
    return bias != NULL ? GRAFT_OK : GRAFT_ERROR_INTERNAL;
}

/* Copies this rank's share of the inputs of each token, for a Linear that gets all inputs. */
static const float *split(const struct linear *self, const struct graft_call *call,
                          const struct graft_linear_args *args, struct graft_error *error) {
    const struct graft_parallel *ranks = tensor_parallel_ranks();
    int64_t own = self->kept.in_features;
    float *x = graft_scratch_floats(call, args->tokens, own, error);
    for (int64_t t = 0; t < args->tokens && x != NULL; t++) {
        memcpy(x + t * own, args->x + (t * ranks->size + ranks->rank) * own, (size_t)own * sizeof *x);
    }
    return x;
}

static int sum(const struct linear *self, const struct graft_call *call, const struct graft_linear_args *args,
               struct graft_error *error) {
    struct graft_linear_args own = *args;
    own.struct_size = (uint32_t)sizeof own;
    if (self->kept.style == STYLE_ROWWISE_SPLIT_INPUT && (own.x = split(self, call, args, error)) == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    int status = graft_linear_forward(self->super, call, &own, error);
    if (status == GRAFT_OK) {
        status = tensor_parallel_ranks()->allreduce(args->y, args->tokens * self->kept.out_features, error);
    }
    return status == GRAFT_OK && self->bias != NULL ? add_bias(self, call, args, error) : status;
}

/* Gathers the outputs of all ranks. Each sends the same number of bytes; the last ranks, which may have fewer outputs,
 * pad theirs. */
static int gather(const struct linear *self, const struct graft_call *call, const struct graft_linear_args *args,
                  struct graft_error *error) {
    const struct graft_parallel *ranks = tensor_parallel_ranks();
    const struct kept *kept = &self->kept;
    int64_t count = args->tokens * kept->share;
    float *own = graft_scratch_floats(call, args->tokens, kept->share, error);
    float *all = graft_scratch_floats(call, args->tokens * ranks->size, kept->share, error);
    if (own == NULL || all == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    struct graft_linear_args run = *args;
    run.struct_size = (uint32_t)sizeof run;
    run.y = own;
    int status = graft_linear_forward(self->super, call, &run, error);
    if (status == GRAFT_OK) {
        status = ranks->allgather(own, count * (int64_t)sizeof *own, all, error);
    }
    for (int32_t rank = 0; rank < ranks->size && status == GRAFT_OK; rank++) {
        int64_t begin = begin_of(kept, rank), n = begin_of(kept, rank + 1) - begin;
        for (int64_t t = 0; t < args->tokens; t++) {
            memcpy(args->y + t * kept->out_features + begin, all + rank * count + t * n, (size_t)n * sizeof *all);
        }
    }
    return status;
}

static int sums(const struct linear *self) {
    return self->kept.style == STYLE_ROWWISE || self->kept.style == STYLE_ROWWISE_SPLIT_INPUT;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_linear_args *args,
                   struct graft_error *error) {
    const struct linear *self = instance;
    return sums(self)                                        ? sum(self, call, args, error)
           : self->kept.style == STYLE_COLWISE_GATHER_OUTPUT ? gather(self, call, args, error)
                                                             : graft_linear_forward(self->super, call, args, error);
}

/* Whether the product with this rank's part of the weight is the final result: nothing has to be summed or gathered. */
static int is_whole(const struct linear *self) {
    return !sums(self) && self->kept.style != STYLE_COLWISE_GATHER_OUTPUT;
}

static int32_t as_product(void *instance, const struct graft_linear_args *args, struct graft_product *product) {
    const struct linear *self = instance;
    return is_whole(self) ? graft_linear_pass_product(self->super, args, product) : 0;
}

static const struct graft_linear vtable = {.struct_size = sizeof vtable, .forward = forward, .as_product = as_product};

const struct graft_class tensor_parallel_linear = {
    .struct_size = sizeof tensor_parallel_linear,
    .flags = GRAFT_CLASS_CALLS_SUPER,
    .name = "TensorParallelLinear",
    .interface_id = GRAFT_INTERFACE_LINEAR,
    .describe = describe,
    .create = create,
    .destroy = graft_instance_destroy,
    .forward = &vtable,
};

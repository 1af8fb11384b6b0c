/* SPDX-License-Identifier: Apache-2.0 */
/* torch.nn.Conv3d as matrix products: each output position becomes a column of inputs that is multiplied by the weight.
 * torch.nn.Conv2d is the same with one frame; its weight lacks that dimension. */
#include <string.h>

#include "arch/basic/conv3d.h"
#include "arch/pass.h"
#include "arch/role.h"
#include "graft/describe.h"
#include "graft/kernels.h"

struct conv3d {
    struct graft_instance base;
    struct graft_conv3d_shape shape;
    struct graft_weight matrix;      /* the weight read as [out_channels, in_channels / groups * kernel] */
    struct graft_row_block block;    /* the matrix's only block */
    const struct graft_weight *bias; /* [out_channels], or NULL */
};

/* Describes the module with `axes` 3, or 2 without time. */
static int describe(const struct graft_args *args, int32_t axes, const struct graft_sink *sink,
                    struct graft_error *error) {
    struct graft_conv3d_shape *shape = sink->keep(sink->data, sizeof *shape, error);
    if (shape == NULL || graft_conv3d_shape_read(args, shape, sink->path, error) != GRAFT_OK) {
        return error->code;
    }
    const struct {
        const char *name;
        const int64_t *values;
        int32_t count;
    } attributes[] = {
        {"in_channels", &shape->in_channels, 1}, {"out_channels", &shape->out_channels, 1},
        {"kernel_size", shape->kernel, 3},       {"stride", shape->stride, 3},
        {"padding", shape->padding, 3},          {"dilation", shape->dilation, 3},
        {"groups", &shape->groups, 1},
    };
    for (size_t i = 0; i < sizeof attributes / sizeof attributes[0]; i++) {
        sink->attribute(sink->data, attributes[i].name, attributes[i].values, attributes[i].count, error);
    }
    int64_t weight[5] = {shape->out_channels, shape->in_channels / shape->groups};
    memcpy(weight + 2, shape->kernel + 3 - axes, (size_t)axes * sizeof *weight);
    if (axes == 2 && shape->kernel[0] != 1) {
        return graft_error_set(error, GRAFT_ERROR_PLUGIN, sink->path, "argument kernel_t: expected 1, got %lld",
                               (long long)shape->kernel[0]);
    }
    graft_describe_parameter(sink, "weight", 2 + axes, weight, GRAFT_PARAMETER_CONTIGUOUS, GRAFT_INIT_NONE, error);
    if (graft_args_int(args, "bias", 1) != 0) {
        graft_describe_vector(sink, "bias", shape->out_channels, error);
    }
    return error->code;
}

int graft_conv3d_describe(const struct graft_class *self, const struct graft_config *config,
                          const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    (void)self;
    (void)config;
    return describe(args, 3, sink, error);
}

int graft_conv2d_describe(const struct graft_class *self, const struct graft_config *config,
                          const struct graft_args *args, const struct graft_sink *sink, struct graft_error *error) {
    (void)self;
    (void)config;
    return describe(args, 2, sink, error);
}

/* Reads the weight, whose stored rows have the width of a kernel, as a matrix with a row for each output channel. */
static void read_as_matrix(struct conv3d *self, const struct graft_weight *weight) {
    int64_t columns = weight->rows / weight->shape[0] * weight->columns;
    self->block = *graft_weight_block(weight, 0);
    self->block.rows = weight->shape[0];
    self->matrix = graft_weight_of(&self->block, columns);
}

int graft_conv3d_create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                        struct graft_error *error) {
    const struct graft_conv3d_shape *shape = build->kept;
    struct conv3d *self = graft_instance_new(build, sizeof *self, error);
    (void)cls;
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->shape = *shape;
    const struct graft_weight *weight = graft_build_weight(build, "weight", error);
    self->bias = build->weight(build->data, "bias");
    if (error->code == GRAFT_OK) {
        read_as_matrix(self, weight);
    }
    return graft_instance_finish(self, instance, error);
}

/* y [rows, out channels of the group] = columns x [rows, matrix columns] times the group's rows of the weight. */
static int multiply(const struct conv3d *self, const struct graft_call *call, int64_t group, const float *x,
                    int64_t rows, float *y, struct graft_error *error) {
    int64_t channels = self->shape.out_channels / self->shape.groups;
    const struct graft_product product =
        graft_product_of(&self->matrix, self->bias, group * channels, channels, rows, x, y);
    return call->kernels->linear(call, &product, 1, sizeof(struct graft_product), error);
}

/* Computes any convolution, for so few output positions at a time that their columns stay small. */
static int convolve(const struct conv3d *self, const struct graft_call *call, const struct graft_conv3d_args *args,
                    struct graft_error *error) {
    enum { PORTION = 1 << 20 }; /* floats */
    const struct graft_conv3d_shape *shape = &self->shape;
    int64_t positions = args->output_size[0] * args->output_size[1] * args->output_size[2];
    int64_t channels = shape->out_channels / shape->groups;
    int64_t portion = PORTION / self->matrix.columns > 0 ? PORTION / self->matrix.columns : 1;
    portion = portion < positions ? portion : positions;
    float *columns = graft_scratch_floats(call, portion, self->matrix.columns, error);
    float *y = graft_scratch_floats(call, portion, channels, error);
    int status = columns != NULL && y != NULL ? GRAFT_OK : GRAFT_ERROR_INTERNAL;
    for (int64_t i = 0; i < args->count * shape->groups && status == GRAFT_OK; i++) {
        int64_t n = i / shape->groups;
        int64_t group = i % shape->groups;
        float *to = args->y + (n * shape->out_channels + group * channels) * positions; /* [channels, positions] */
        for (int64_t first = 0; first < positions && status == GRAFT_OK; first += portion) {
            int64_t rows = positions - first < portion ? positions - first : portion;
            graft_conv3d_columns(shape, args, n, group, first, rows, columns);
            status = multiply(self, call, group, columns, rows, y, error);
            for (int64_t t = 0; t < rows * channels && status == GRAFT_OK; t++) {
                to[t % channels * positions + first + t / channels] = y[t];
            }
        }
    }
    return status;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_conv3d_args *args,
                   struct graft_error *error) {
    const struct conv3d *self = instance;
    int status = graft_conv3d_check_sizes(&self->shape, args, self->base.path, error);
    if (status != GRAFT_OK || args->count == 0) {
        return status;
    }
    if (graft_conv3d_is_product(&self->shape, args->size)) {
        return multiply(self, call, 0, args->x, args->count, args->y, error);
    }
    return convolve(self, call, args, error);
}

const struct graft_conv3d graft_conv3d_vtable = {.struct_size = sizeof graft_conv3d_vtable, .forward = forward};

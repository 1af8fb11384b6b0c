/* SPDX-License-Identifier: Apache-2.0 */
#include "int8_linear.h"

#include <stdlib.h>

#include "graft/describe.h"
#include "graft/packed_rows.h"
#include "quantize.h"

int32_t int8_input_bits;

static int describe(const struct graft_class *self, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    int64_t shape[2] = {graft_args_int(args, "out_features", 0), graft_args_int(args, "in_features", 0)};
    int64_t scales[2] = {shape[0], int8_groups(shape[1])};
    (void)self;
    (void)config;
    int status = sink->attribute(sink->data, "in_features", &shape[1], 1, error);
    if (status == GRAFT_OK) {
        status = sink->attribute(sink->data, "out_features", &shape[0], 1, error);
    }
    if (status == GRAFT_OK) {
        status = graft_describe_typed(sink, "qweight", 2, shape, GRAFT_DTYPE_I8, error);
    }
    if (status == GRAFT_OK) {
        status = graft_describe_typed(sink, "scales", scales[1] > 1 ? 2 : 1, scales, GRAFT_DTYPE_F32, error);
    }
    if (status == GRAFT_OK && graft_args_int(args, "bias", 1) != 0) {
        status = graft_describe_parameter(sink, "bias", 1, shape, 0, GRAFT_INIT_NONE, error);
    }
    return status;
}

static int create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                  struct graft_error *error) {
    struct graft_packed_rows *self = calloc(1, sizeof *self);
    (void)cls;
    if (self == NULL) {
        return graft_fail_memory(error, build->path);
    }
    int status = graft_packed_rows_bind(build, "qweight", "scales", self, error);
    if (status != GRAFT_OK) {
        free(self);
        return status;
    }
    self->loops = graft_packed_rows_choose(graft_packed_rows_int8);
    self->in_features = self->codes->columns;
    self->out_features = self->codes->rows;
    self->row_bytes = self->in_features;
    self->block_rows = 1;
    self->groups = int8_groups(self->in_features);
    self->group_size = self->in_features / self->groups;
    self->bits = 8;
    self->input_bits = int8_input_bits;
    *instance = self;
    return GRAFT_OK;
}

/* What the body of a parallel loop is given. */
struct scaled {
    const float *scales; /* [rows] */
    int64_t rows;
    float *y; /* [tokens, rows] */
};

static void scale_tokens(void *data, int64_t begin, int64_t end) {
    const struct scaled *scaled = data;
    for (int64_t t = begin; t < end; t++) {
        for (int64_t r = 0; r < scaled->rows; r++) {
            scaled->y[t * scaled->rows + r] *= scaled->scales[r];
        }
    }
}

/* bf16 holds every int8 exactly. So with many tokens, whose weights may be rounded to it, a row's only scale comes
 * afterwards, in f32; where there are several, each is multiplied in before. */
static int multiply_whole(const struct graft_packed_rows *self, const struct graft_call *call,
                          const struct graft_linear_args *args, struct graft_error *error) {
    static const float one = 1.0F;
    const struct graft_row_block block = {sizeof block, GRAFT_DTYPE_F32, &one, 1};
    const struct graft_weight all = {.struct_size = sizeof all,
                                     .rank = 1,
                                     .shape = {1},
                                     .rows = 1,
                                     .columns = 1,
                                     .blocks = &block,
                                     .n_blocks = 1,
                                     .block_stride = sizeof block};
    struct graft_packed_rows unscaled = *self;
    unscaled.scales = &all;
    unscaled.block_rows = self->out_features;
    unscaled.bias = NULL; /* comes after the scale */
    int status = graft_packed_rows_many(&unscaled, call, args, error);
    if (status == GRAFT_OK) {
        struct scaled scaled = {graft_weight_block(self->scales, 0)->data, self->out_features, args->y};
        call->threads->parallel_for(args->tokens, 8, scale_tokens, &scaled);
    }
    return status;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_linear_args *args,
                   struct graft_error *error) {
    const struct graft_packed_rows *self = instance;
    if (self->groups > 1 || graft_call_is_few(call, args->tokens) ||
        graft_packed_rows_how(self, call, args->tokens) != NULL) {
        return graft_packed_rows_forward(self, call, args, error);
    }
    int status = multiply_whole(self, call, args, error);
    return status == GRAFT_OK
               ? graft_packed_add_bias(self->bias, call, self->out_features, args->tokens, args->y, error)
               : status;
}

static int as_loop(void *instance, const struct graft_call *call, const struct graft_linear_args *args,
                   struct graft_loop *loop, struct graft_error *error) {
    return graft_packed_rows_as_loop(instance, call, args, loop, error);
}

static void read_rows(void *instance, int64_t first, int64_t n, float *weight, float *bias) {
    graft_packed_rows_read(instance, first, n, weight, bias);
}

static const struct graft_linear vtable = {
    .struct_size = sizeof vtable, .forward = forward, .as_loop = as_loop, .read_rows = read_rows};

static const char *const sources[] = {"weight"};
static const char *const targets[] = {"qweight", "scales"};

static const struct graft_operation quantize[] = {
    {.struct_size = sizeof quantize[0], .kind = GRAFT_OP_CUSTOM, .custom = &int8_quantize_rows},
};

static const struct graft_conversion conversions[] = {
    {
        .struct_size = sizeof conversions[0],
        .n_sources = 1,
        .sources = sources,
        .n_targets = 2,
        .targets = targets,
        .n_operations = 1,
        .operations = quantize,
        .operation_stride = sizeof quantize[0],
    },
};

const struct graft_class int8_linear_class = {
    .struct_size = sizeof int8_linear_class,
    .name = "Int8Linear",
    .interface_id = GRAFT_INTERFACE_LINEAR,
    .describe = describe,
    .create = create,
    .destroy = free,
    .forward = &vtable,
    .conversions = conversions,
    .n_conversions = 1,
    .conversion_stride = sizeof conversions[0],
};

/* SPDX-License-Identifier: Apache-2.0 */
/* LoraPair: lora_A [rank, in] and lora_B [out, rank]. For few tokens lora_B is read from a copy that has the numbers of
 * adjacent outputs side by side, because its rows are too short to be multiplied one by one. */
#include "pair.h"

#include <stdlib.h>

#include "graft/describe.h"
#include "graft/kernels.h"
#include "lora.h"
#include "made.h"
#include "merge.h"
#include "stored.h"

static const char MAGNITUDE[] = "lora_magnitude_vector", BIAS[] = "bias";

/* Declares a vector with a number for each output. */
static int describe_vector(const struct graft_sink *sink, const struct graft_args *args, const char *tensor,
                           const char *parameter, struct graft_error *error) {
    graft_describe_vector(sink, parameter, graft_args_int(args, "out_features", 0), error);
    lora_describe_stored(sink, tensor, parameter, 0, error);
    return error->code;
}

/* Declares lora_A and lora_B, which are stored or computed from other tensors. */
static int describe_weights(const struct graft_sink *sink, const struct graft_args *args, struct graft_error *error) {
    const struct lora_made made = {
        .method = (int32_t)graft_args_int(args, "method", LORA_METHOD_LORA),
        .unit = {graft_args_int(args, "unit_1", 0), graft_args_int(args, "unit_2", 0)},
    };
    if (made.method != LORA_METHOD_LORA) {
        return lora_describe_made(sink, &made, graft_args_int(args, "in_features", 0), error);
    }
    lora_describe_stored(sink, "lora_A.weight", "lora_A.weight", 0, error);
    lora_describe_stored(sink, "lora_B.weight", "lora_B.weight", 0, error);
    return error->code;
}

static int describe(const struct graft_class *cls, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    int64_t rank = graft_args_int(args, "rank", 0);
    (void)cls;
    (void)config;
    graft_describe_linear(sink, "lora_A", graft_args_int(args, "in_features", 0), rank, 0, error);
    graft_describe_linear(sink, "lora_B", rank, graft_args_int(args, "out_features", 0), 0, error);
    describe_weights(sink, args, error);
    if (graft_args_int(args, "magnitude", 0)) {
        describe_vector(sink, args, MAGNITUDE, MAGNITUDE, error);
    }
    if (graft_args_int(args, "lora_bias", 0)) {
        describe_vector(sink, args, "lora_B.bias", BIAS, error);
    }
    return error->code;
}

static int read_columns(struct lora_pair *self) {
    const struct graft_linear_args none = {.struct_size = sizeof none};
    struct graft_product b;
    if (self->rank < 1 || !graft_linear_as_product(self->b, &none, &b) || !lora_are_floats(b.weight)) {
        return 0;
    }
    float *row = malloc((size_t)self->rank * sizeof *row);
    if (row == NULL || lora_columns_init(&self->columns, b.weight, self->rank, self->out_features, self->factor) != 0) {
        free(row);
        return -1;
    }
    for (int64_t o = 0; o < self->out_features; o++) {
        lora_read_row(b.weight, b.first_row + o, row);
        lora_columns_set(&self->columns, o, row, 1);
    }
    free(row);
    return 0;
}

static void destroy(void *instance) {
    struct lora_pair *self = instance;
    lora_columns_finish(&self->columns);
    free(self);
}

static int create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                  struct graft_error *error) {
    (void)cls;
    const struct graft_module *a = graft_build_child(build, "lora_A", error);
    const struct graft_module *b = graft_build_child(build, "lora_B", error);
    const struct graft_weight *magnitude =
        graft_args_int(build->args, "magnitude", 0) ? graft_build_weight(build, MAGNITUDE, error) : NULL;
    const struct graft_weight *bias =
        graft_args_int(build->args, "lora_bias", 0) ? graft_build_weight(build, BIAS, error) : NULL;
    if (error->code != GRAFT_OK) {
        return error->code;
    }
    struct lora_pair *self = calloc(1, sizeof *self);
    if (self == NULL) {
        return graft_fail_memory(error, build->path);
    }
    *self = (struct lora_pair){.a = a,
                               .b = b,
                               .rank = graft_args_int(build->args, "rank", 0),
                               .out_features = graft_args_int(build->args, "out_features", 0),
                               .factor = (float)graft_args_real(build->args, "factor", 1.0),
                               .magnitude = magnitude,
                               .bias = bias};
    if (read_columns(self) != 0) {
        destroy(self);
        return graft_fail_memory(error, build->path);
    }
    *instance = self;
    return GRAFT_OK;
}

const struct lora_pair *lora_pair_of(const struct graft_module *module) {
    return module->instance;
}

int32_t lora_pair_first(const struct lora_pair *pair, const struct graft_call *call,
                        const struct graft_linear_args *args, struct graft_product *product) {
    struct graft_product unwatched; /* lora_B is a product unless its calls are being recorded */
    return graft_call_is_small_batch(call, args->tokens) && lora_columns_exist(&pair->columns) &&
           graft_linear_as_product(pair->b, args, &unwatched) && graft_linear_as_product(pair->a, args, product);
}

static int forward(void *instance, const struct graft_call *call, const struct graft_linear_args *args,
                   struct graft_error *error) {
    const struct lora_pair *self = instance;
    float *narrow = graft_scratch_floats(call, args->tokens, self->rank, error); /* [tokens, rank] */
    if (narrow == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    struct graft_linear_args first = {.struct_size = sizeof first, .tokens = args->tokens, .x = args->x, .y = narrow};
    struct graft_linear_args second = {.struct_size = sizeof second, .tokens = args->tokens, .x = narrow, .y = args->y};
    struct graft_product product;
    if (lora_pair_first(self, call, &first, &product)) {
        const struct lora_addition addition = {&self->columns, narrow, {args->tokens, NULL}, 0, NULL};
        int status = call->kernels->linear(call, &product, 1, sizeof product, error);
        memset(args->y, 0, (size_t)(args->tokens * self->out_features) * sizeof(float));
        lora_add(call, &(struct lora_additions){&addition, 1, args->y, self->out_features});
        return status;
    }
    int status = graft_linear_forward(self->a, call, &first, error);
    for (int64_t i = 0; status == GRAFT_OK && i < args->tokens * self->rank; i++) {
        narrow[i] *= self->factor;
    }
    return status == GRAFT_OK ? graft_linear_forward(self->b, call, &second, error) : status;
}

int lora_pair_products(const struct lora_pair *pair, struct graft_product *a, struct graft_product *b) {
    const struct graft_linear_args none = {.struct_size = sizeof none};
    return graft_linear_as_product(pair->a, &none, a) && graft_linear_as_product(pair->b, &none, b);
}

static const struct graft_linear vtable = {.struct_size = sizeof vtable, .forward = forward};

const struct graft_class lora_pair_class = {
    .struct_size = sizeof lora_pair_class,
    .name = "LoraPair",
    .interface_id = GRAFT_INTERFACE_LINEAR,
    .describe = describe,
    .create = create,
    .destroy = destroy,
    .forward = &vtable,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* y = x W^T, with an additional parameter. */
#include "graft/linear.h"

#include <fenv.h>

#include "acme.h"

struct linear {
    struct graft_instance base;
    const struct graft_weight *weight; /* [out_features, in_features] f32 */
    const struct graft_weight *bias;   /* [out_features] f32; or NULL */
    const float *x;                    /* kept by mistakes that use it after the call */
    float *y;
    const struct graft_linear_args *args;
    const struct graft_call *call;
    const struct graft_build *build;
    float *numbers; /* [out_features] of host->alloc */
};

static int describe(const struct graft_class *cls, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    int64_t shape[2] = {graft_args_int(args, "out_features", 0), graft_args_int(args, "in_features", 0)};
    (void)cls, (void)config;
    if (is("describes_shape_turned")) {
        const int64_t first = shape[0];
        shape[0] = shape[1];
        shape[1] = first;
    }
    if (is("describes_another_name")) {
        return graft_describe_parameter(sink, "kernel", 2, shape, 0, GRAFT_INIT_NONE, error);
    }
    const int64_t is_second = strstr(sink->path, ".1.") != NULL;
    if (is("describes_by_place")) {
        sink->attribute(sink->data, "is_second", &is_second, 1, error);
    }
    if (is("keeps_by_place")) {
        int64_t *kept = sink->keep(sink->data, (int64_t)sizeof *kept, error);
        if (kept != NULL) {
            *kept = is_second;
        }
    }
    if (is("describes_shape_of_zero")) {
        shape[0] = 0;
    }
    if (graft_args_int(args, "bias", 0) != 0 && !is("forgets_that_there_is_a_bias")) {
        graft_describe_parameter(sink, "bias", 1, shape, GRAFT_PARAMETER_CONTIGUOUS, GRAFT_INIT_NONE, error);
    }
    return graft_describe_parameter(sink, "weight", 2, shape, GRAFT_PARAMETER_CONTIGUOUS, GRAFT_INIT_NONE, error);
}

static void take_numbers(struct linear *self, const struct graft_build *build) {
    self->numbers = build->host->alloc(self->weight->rows * (int64_t)sizeof *self->numbers);
    if (is("frees_too_early") && self->numbers != NULL) {
        build->host->free(self->numbers);
    }
}

static int create(const struct graft_class *cls, const struct graft_build *build, void **instance,
                  struct graft_error *error) {
    (void)cls;
    if (is("create_fails_silently")) {
        return GRAFT_ERROR_MODEL;
    }
    struct linear *self = graft_instance_new(build, sizeof *self, error);
    if (self == NULL) {
        return GRAFT_ERROR_INTERNAL;
    }
    self->weight = graft_build_weight(build, is("asks_for_another_weight") ? "bias" : "weight", error);
    (void)refuse_others(build, self->weight, error);
    self->bias = build->weight(build->data, "bias");
    self->build = build;
    if (error->code == GRAFT_OK) {
        take_numbers(self, build);
    }
    if (is("create_crashes")) {
        write_at(NULL, 2, 1.0F);
    }
    return graft_instance_finish(self, instance, error);
}

static void destroy(void *instance) {
    struct linear *self = instance;
    const struct graft_host *host = self->base.host;
    if (is("frees_inside")) {
        host->free(self->numbers + 4);
    } else if (!is("forgets_block") && !is("frees_too_early")) {
        host->free(self->numbers);
    }
    if (is("frees_twice")) {
        host->free(self->numbers);
    }
    if (is("destroy_uses_build") && self->build->struct_size == 0) {
        return;
    }
    if (!is("forgets_instance")) {
        graft_instance_destroy(self);
    }
}

static int64_t calls;
static float table[8];
static const float constants[4] = {1.0F, 2.0F, 3.0F, 4.0F};

static void write_statics(const struct graft_linear_args *args) {
    static int is_ready;
    static volatile float row[4];
    if (is("counts_calls")) {
        calls++;
    }
    if (is("fills_table") && !is_ready) {
        table[3] = 1.0F;
        is_ready = 1;
    }
    if (is("copies_to_static")) {
        memcpy((void *)(uintptr_t)row, args->x, sizeof row);
    }
    if (is("writes_to_const")) {
        write_at(constants, 1, 0.0F);
    }
}

/* Reads or writes beyond the ends of arrays, parameters and memory. */
static float go_beyond(struct linear *self, const struct graft_linear_args *args) {
    const int64_t x_count = args->tokens * self->weight->columns, y_count = args->tokens * self->weight->rows;
    const float *weight = graft_weight_block(self->weight, 0)->data;
    const int64_t w_count = self->weight->rows * self->weight->columns;
    float sum = 0.0F;
    sum += is("reads_past_x") ? *numbers_at(args->x, x_count) : 0.0F;
    sum += is("reads_in_front_of_x") ? *numbers_at(args->x, -1) : 0.0F;
    sum += is("reads_past_weight") ? *numbers_at(weight, w_count) : 0.0F;
    sum += is("reads_in_front_of_weight") ? *numbers_at(weight, -1) : 0.0F;
    sum += is("reads_past_instance") ? *numbers_at(self, (int64_t)(sizeof *self / sizeof(float))) : 0.0F;
    sum += is("reads_in_front_of_instance") ? *numbers_at(self, -1) : 0.0F;
    sum += is("reads_past_block") ? *numbers_at(self->numbers, self->weight->rows) : 0.0F;
    sum += is("frees_too_early") ? *numbers_at(self->numbers, 0) : 0.0F;
    if (is("writes_past_y")) {
        write_at(args->y, y_count, 1.0F);
    }
    if (is("writes_in_front_of_y")) {
        write_at(args->y, -1, 1.0F);
    }
    if (is("writes_to_weight")) {
        write_at(weight, 0, 1.0F);
    }
    if (is("writes_past_block")) {
        write_at(self->numbers, self->weight->rows, 1.0F);
    }
    if (is("writes_in_front_of_block")) {
        write_at(self->numbers, -2, 1.0F);
    }
    return sum;
}

/* Uses the arrays of an earlier call. */
static float use_kept(struct linear *self, const struct graft_call *call, const struct graft_linear_args *args) {
    float sum = 0.0F;
    sum += is("keeps_x") && self->x != NULL ? *numbers_at(self->x, 0) : 0.0F;
    sum += is("keeps_y") && self->y != NULL ? *numbers_at(self->y, 0) : 0.0F;
    sum += is("keeps_args") && self->args != NULL ? (float)self->args->tokens : 0.0F;
    sum += is("keeps_call") && self->call != NULL ? (float)self->call->precision : 0.0F;
    sum += is("keeps_build") ? (float)self->build->struct_size : 0.0F;
    self->x = args->x;
    self->y = args->y;
    self->args = args;
    self->call = call;
    return sum;
}

static void multiply(const struct linear *self, const struct graft_linear_args *args) {
    const float *weight = graft_weight_block(self->weight, 0)->data;
    const int64_t columns = self->weight->columns, rows = self->weight->rows;
    for (int64_t t = 0; t < args->tokens + is("computes_a_row_too_many"); t++) {
        for (int64_t o = 0; o < rows - is("leaves_out_a_column"); o++) {
            float sum = is("adds_to_y") ? args->y[t * rows + o] : 0.0F;
            for (int64_t i = 0; i < columns; i++) {
                sum += args->x[t * columns + i] * weight[o * columns + i];
            }
            args->y[t * rows + o] = sum;
        }
    }
}

static void add_bias(const struct linear *self, const struct graft_linear_args *args) {
    const float *bias = graft_weight_block(self->bias, 0)->data;
    for (int64_t i = 0; i < args->tokens * self->weight->rows; i++) {
        args->y[i] += bias[i % self->weight->rows];
    }
}

/* Adds the first number of each part to a sum; how the host divides the work is not defined. */
static void add_first(void *data, int64_t begin, int64_t end) {
    float *y = data;
    y[end - 1] += y[begin] * 0.5F;
}

/* Mistakes that only a sanitizer detects. */
static void be_undefined(const struct graft_linear_args *args) {
    volatile int32_t most = INT32_MAX;
    if (is("overflows")) {
        most = most + (int32_t)args->tokens;
    }
    if (is("reads_past_malloc")) {
        float *numbers = malloc(10 * sizeof *numbers);
        args->y[0] += numbers != NULL ? *numbers_at(numbers, 10) * 0.0F : 0.0F;
        free(numbers);
    }
}

static int end_badly(const struct graft_linear_args *args) {
    volatile int64_t zero = args->tokens - args->tokens;
    if (is("divides_by_zero")) {
        return (int)(args->tokens / zero);
    }
    if (is("aborts")) {
        abort();
    }
    if (is("exits")) {
        exit(0);
    }
    if (is("rounds_upwards")) {
        (void)fesetround(FE_UPWARD);
    }
    return is("fails_silently") ? GRAFT_ERROR_MODEL : GRAFT_OK;
}

static int forward(void *instance, const struct graft_call *call, const struct graft_linear_args *args,
                   struct graft_error *error) {
    struct linear *self = instance;
    (void)error;
    write_statics(args);
    volatile float sum = go_beyond(self, args) + use_kept(self, call, args);
    (void)sum;
    multiply(self, args);
    if (self->bias != NULL && !is("adds_no_bias")) {
        add_bias(self, args);
    }
    if (is("writes_to_x")) {
        write_at(args->x, 0, args->x[0]);
    }
    if (is("depends_on_division")) {
        call->threads->parallel_for(args->tokens * self->weight->rows, 1, add_first, args->y);
    }
    if (is("answers_at_random")) {
        args->y[0] += (float)rand() / (float)RAND_MAX;
    }
    if (is("is_wrong_alone") && args->tokens == 1) {
        args->y[0] += 0.5F;
    }
    for (int64_t i = 0; i < args->tokens * self->weight->rows && is("is_wrong"); i++) {
        args->y[i] *= 1.25F;
    }
    be_undefined(args);
    return end_badly(args);
}

static int32_t as_product(void *instance, const struct graft_linear_args *args, struct graft_product *product) {
    const struct linear *self = instance;
    struct graft_product value = graft_product_of(self->weight, is("adds_no_bias") ? NULL : self->bias, 0,
                                                  self->weight->rows, args->tokens, args->x, args->y);
    value.rows -= is("product_lacks_a_row") ? 1 : 0;
    graft_struct_copy(product, product->struct_size, &value);
    return 1;
}

static const struct graft_linear vtable = {.struct_size = sizeof vtable, .forward = forward, .as_product = as_product};

const struct graft_class acme_linear = {.struct_size = sizeof acme_linear,
                                        .name = "AcmeLinear",
                                        .interface_id = GRAFT_INTERFACE_LINEAR,
                                        .describe = describe,
                                        .create = create,
                                        .destroy = destroy,
                                        .forward = &vtable};

const struct graft_class acme_anywhere = {.struct_size = sizeof acme_anywhere,
                                          .flags = GRAFT_CLASS_SAME_ANYWHERE,
                                          .name = "AcmeLinear",
                                          .interface_id = GRAFT_INTERFACE_LINEAR,
                                          .describe = describe,
                                          .create = create,
                                          .destroy = destroy,
                                          .forward = &vtable};

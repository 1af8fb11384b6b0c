/* SPDX-License-Identifier: Apache-2.0 */
/* Compares Conv3d with the sum that defines it: strides, padding, dilation, groups, biases, and a kernel as large as
 * its input. */
#include "graft/conv3d.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "arch/basic/conv3d.h"
#include "arch/role.h"
#include "graft/describe.h"
#include "kernels/kernels.h"
#include "kernels/scratch.h"
#include "numbers.h"
#include "plugin/host_services.h"

enum { MAX_FLOATS = 1 << 16, MAX_ARGS = 16 };

/* A convolution without a model around it. */
struct fixture {
    struct graft_arg items[MAX_ARGS];
    struct graft_args args;
    struct graft_row_block blocks[2];
    struct graft_weight weight;
    struct graft_weight bias;
    struct graft_conv3d_shape shape;
    int64_t size[3];
    float weights[MAX_FLOATS];
    float biases[64];
    float x[MAX_FLOATS];
    float y[MAX_FLOATS];
};

static const struct graft_weight *find_weight(void *data, const char *name) {
    struct fixture *fixture = data;
    if (strcmp(name, "weight") == 0) {
        return &fixture->weight;
    }
    return graft_args_int(&fixture->args, "bias", 1) != 0 ? &fixture->bias : NULL;
}

static const struct graft_module *find_child(void *data, const char *name) {
    (void)data;
    (void)name;
    return NULL;
}

static void fill(float *floats, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        floats[i] = numbers_float();
    }
}

/* Gives the fixture the arguments and random weights. */
static void set_up(struct fixture *fixture, const struct graft_arg *items, int32_t count) {
    const struct graft_conv3d_shape *shape = &fixture->shape;
    memcpy(fixture->items, items, (size_t)count * sizeof *items);
    fixture->args = graft_args_of(fixture->items, count);
    (void)graft_conv3d_shape_read(&fixture->args, &fixture->shape, "proj", NULL);
    int64_t kernel = shape->kernel[0] * shape->kernel[1] * shape->kernel[2];
    int64_t count_of_weights = shape->out_channels * (shape->in_channels / shape->groups) * kernel;
    fill(fixture->weights, count_of_weights);
    fill(fixture->biases, shape->out_channels);
    fill(fixture->x, MAX_FLOATS);
    fixture->blocks[0] = (struct graft_row_block){sizeof(struct graft_row_block), GRAFT_DTYPE_F32, fixture->weights,
                                                  count_of_weights / shape->kernel[2]};
    fixture->blocks[1] =
        (struct graft_row_block){sizeof(struct graft_row_block), GRAFT_DTYPE_F32, fixture->biases, shape->out_channels};
    fixture->weight = (struct graft_weight){.struct_size = sizeof fixture->weight,
                                            .rank = 5,
                                            .shape = {shape->out_channels, shape->in_channels / shape->groups,
                                                      shape->kernel[0], shape->kernel[1], shape->kernel[2], 1, 1, 1},
                                            .rows = count_of_weights / shape->kernel[2],
                                            .columns = shape->kernel[2],
                                            .blocks = &fixture->blocks[0],
                                            .n_blocks = 1,
                                            .block_stride = sizeof fixture->blocks[0]};
    fixture->bias = (struct graft_weight){.struct_size = sizeof fixture->bias,
                                          .rank = 1,
                                          .shape = {shape->out_channels, 1, 1, 1, 1, 1, 1, 1},
                                          .rows = shape->out_channels,
                                          .columns = 1,
                                          .blocks = &fixture->blocks[1],
                                          .n_blocks = 1,
                                          .block_stride = sizeof fixture->blocks[1]};
}

static int run(struct fixture *fixture, const struct graft_conv3d_args *args, struct graft_error *error) {
    const struct graft_class cls = {.struct_size = sizeof cls, .name = "Conv3d"};
    struct graft_conv3d_shape shape;
    int status = graft_conv3d_shape_read(&fixture->args, &shape, "proj", error);
    if (status != GRAFT_OK) {
        return status;
    }
    struct graft_build build = {.struct_size = sizeof build,
                                .path = "proj",
                                .host = graft_host_get(),
                                .args = &fixture->args,
                                .data = fixture,
                                .weight = find_weight,
                                .child = find_child,
                                .kept = &shape};
    struct graft_scratch *scratch = graft_scratch_create();
    struct graft_call call;
    void *instance = NULL;
    graft_call_init(&call, GRAFT_PRECISION_FLOAT32, scratch);
    status = graft_conv3d_create(&cls, &build, &instance, error);
    if (status == GRAFT_OK) {
        status = graft_conv3d_vtable.forward(instance, &call, args, error);
    }
    graft_instance_destroy(instance);
    graft_scratch_destroy(scratch);
    return status;
}

/* Output (n, o) at position p, in f64. */
static double expected(const struct fixture *fixture, int64_t n, int64_t o, const int64_t p[3]) {
    const struct graft_conv3d_shape *shape = &fixture->shape;
    int64_t channels = shape->in_channels / shape->groups;
    int64_t group = o / (shape->out_channels / shape->groups);
    const int64_t *size = fixture->size;
    const float *weight = fixture->weights + o * channels * shape->kernel[0] * shape->kernel[1] * shape->kernel[2];
    double sum = graft_args_int(&fixture->args, "bias", 1) != 0 ? (double)fixture->biases[o] : 0.0;
    for (int64_t c = 0; c < channels; c++) {
        for (int64_t i = 0; i < shape->kernel[0]; i++) {
            for (int64_t j = 0; j < shape->kernel[1]; j++) {
                for (int64_t k = 0; k < shape->kernel[2]; k++, weight++) {
                    int64_t t = p[0] * shape->stride[0] - shape->padding[0] + i * shape->dilation[0];
                    int64_t h = p[1] * shape->stride[1] - shape->padding[1] + j * shape->dilation[1];
                    int64_t w = p[2] * shape->stride[2] - shape->padding[2] + k * shape->dilation[2];
                    int64_t plane = n * shape->in_channels + group * channels + c;
                    if (t >= 0 && h >= 0 && w >= 0 && t < size[0] && h < size[1] && w < size[2]) {
                        sum +=
                            (double)*weight * (double)fixture->x[((plane * size[0] + t) * size[1] + h) * size[2] + w];
                    }
                }
            }
        }
    }
    return sum;
}

static void check(struct fixture *fixture, int64_t count, const int64_t size[3], const int64_t output[3]) {
    struct graft_error error = graft_error_none();
    memcpy(fixture->size, size, sizeof fixture->size);
    const struct graft_conv3d_args args = {
        .struct_size = sizeof args,
        .count = count,
        .size = {size[0], size[1], size[2]},
        .output_size = {output[0], output[1], output[2]},
        .x = fixture->x,
        .y = fixture->y,
    };
    assert_int_equal(run(fixture, &args, &error), GRAFT_OK);
    int64_t positions = output[0] * output[1] * output[2];
    for (int64_t i = 0; i < count * fixture->shape.out_channels * positions; i++) {
        const int64_t p[3] = {i % positions / output[2] / output[1], i % positions / output[2] % output[1],
                              i % positions % output[2]};
        int64_t channel = i / positions;
        double sum = expected(fixture, channel / fixture->shape.out_channels, channel % fixture->shape.out_channels, p);
        assert_true(fabs(sum - (double)fixture->y[i]) < 1e-5);
    }
}

static void test_patches(void **state) {
    static struct fixture fixture;
    const struct graft_arg items[] = {
        graft_int_arg("in_channels", 3), graft_int_arg("out_channels", 5), graft_int_arg("bias", 0),
        graft_int_arg("kernel_t", 2),    graft_int_arg("kernel_h", 4),     graft_int_arg("kernel_w", 3),
        graft_int_arg("stride_t", 2),    graft_int_arg("stride_h", 4),     graft_int_arg("stride_w", 3)};
    (void)state;
    set_up(&fixture, items, 9);
    check(&fixture, 7, (int64_t[]){2, 4, 3}, (int64_t[]){1, 1, 1});
    check(&fixture, 2, (int64_t[]){4, 9, 6}, (int64_t[]){2, 2, 2});
}

static void test_everything(void **state) {
    static struct fixture fixture;
    const struct graft_arg items[] = {
        graft_int_arg("in_channels", 4), graft_int_arg("out_channels", 6), graft_int_arg("groups", 2),
        graft_int_arg("kernel_t", 1),    graft_int_arg("kernel_h", 3),     graft_int_arg("kernel_w", 2),
        graft_int_arg("stride_h", 2),    graft_int_arg("padding_t", 1),    graft_int_arg("padding_h", 2),
        graft_int_arg("padding_w", 1),   graft_int_arg("dilation_h", 2),   graft_int_arg("dilation_w", 3)};
    (void)state;
    set_up(&fixture, items, 12);
    check(&fixture, 2, (int64_t[]){2, 6, 5}, (int64_t[]){4, 3, 4});
}

static void test_refusals(void **state) {
    static struct fixture fixture;
    const struct graft_arg items[] = {graft_int_arg("in_channels", 3), graft_int_arg("out_channels", 4),
                                      graft_int_arg("groups", 2),      graft_int_arg("kernel_t", 1),
                                      graft_int_arg("kernel_h", 3),    graft_int_arg("kernel_w", 2)};
    struct graft_error error = graft_error_none();
    struct graft_conv3d_args args = {
        .struct_size = sizeof args, .count = 1, .size = {1, 2, 2}, .output_size = {1, 1, 1}};
    (void)state;
    set_up(&fixture, items, 6);
    assert_int_equal(run(&fixture, &args, &error), GRAFT_ERROR_PLUGIN);
    assert_non_null(strstr(error.message, "describe no valid convolution"));
    fixture.items[0].integer = 4;
    error = graft_error_none();
    assert_int_equal(run(&fixture, &args, &error), GRAFT_ERROR_PLUGIN);
    assert_non_null(strstr(error.message, "height: an input of 2 gives an output of 0"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_patches),
        cmocka_unit_test(test_everything),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

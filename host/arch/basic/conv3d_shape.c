/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/basic/conv3d.h"
#include "graft/describe.h"

enum { MAX_SIZE = 1 << 20 };

static int is_between(int64_t value, int64_t minimum) {
    return value >= minimum && value <= MAX_SIZE;
}

static void read_axes(const struct graft_args *args, const char *const names[3], int64_t fallback, int64_t values[3]) {
    for (int32_t i = 0; i < 3; i++) {
        values[i] = graft_args_int(args, names[i], fallback);
    }
}

int graft_conv3d_shape_read(const struct graft_args *args, struct graft_conv3d_shape *shape, const char *path,
                            struct graft_error *error) {
    static const char *const kernel[] = {"kernel_t", "kernel_h", "kernel_w"};
    static const char *const stride[] = {"stride_t", "stride_h", "stride_w"};
    static const char *const padding[] = {"padding_t", "padding_h", "padding_w"};
    static const char *const dilation[] = {"dilation_t", "dilation_h", "dilation_w"};
    shape->in_channels = graft_args_int(args, "in_channels", 0);
    shape->out_channels = graft_args_int(args, "out_channels", 0);
    shape->groups = graft_args_int(args, "groups", 1);
    read_axes(args, kernel, 0, shape->kernel);
    read_axes(args, stride, 1, shape->stride);
    read_axes(args, padding, 0, shape->padding);
    read_axes(args, dilation, 1, shape->dilation);
    int32_t sound = is_between(shape->in_channels, 1) && is_between(shape->out_channels, 1) &&
                    is_between(shape->groups, 1) && shape->in_channels % shape->groups == 0 &&
                    shape->out_channels % shape->groups == 0;
    for (int32_t i = 0; i < 3; i++) {
        sound = sound && is_between(shape->kernel[i], 1) && is_between(shape->stride[i], 1) &&
                is_between(shape->padding[i], 0) && is_between(shape->dilation[i], 1);
    }
    return sound ? GRAFT_OK
                 : graft_error_set(
                       error, GRAFT_ERROR_PLUGIN, path,
                       "the parent's arguments describe no valid convolution: expected channels, kernel, stride and "
                       "dilation of at least 1, groups that divide the channels, and padding of at least 0");
}

int graft_conv3d_check_sizes(const struct graft_conv3d_shape *shape, const struct graft_conv3d_args *args,
                             const char *path, struct graft_error *error) {
    static const char *const axes[] = {"time", "height", "width"};
    for (int32_t i = 0; i < 3; i++) {
        int64_t spare = args->size[i] + 2 * shape->padding[i] - shape->dilation[i] * (shape->kernel[i] - 1) - 1;
        int64_t expected = spare < 0 ? 0 : spare / shape->stride[i] + 1;
        if (spare < 0 || args->output_size[i] != expected) {
            return graft_error_set(error, GRAFT_ERROR_PLUGIN, path,
                                   "%s: an input of %lld gives an output of %lld, not %lld", axes[i],
                                   (long long)args->size[i], (long long)expected, (long long)args->output_size[i]);
        }
    }
    return GRAFT_OK;
}

int graft_conv3d_is_product(const struct graft_conv3d_shape *shape, const int64_t input[3]) {
    int32_t is = shape->groups == 1;
    for (int32_t i = 0; i < 3; i++) {
        is = is && input[i] == shape->kernel[i] && shape->padding[i] == 0 && shape->dilation[i] == 1;
    }
    return is;
}

/* Fills in the column [channels * kernel] of one output position from the `channels` planes of `x`. */
static void fill_column(const struct graft_conv3d_shape *shape, const int64_t input[3], const float *x,
                        int64_t channels, const int64_t position[3], float *column) {
    int64_t at[3]; /* first position in the input */
    for (int64_t c = 0; c < channels; c++) {
        for (int64_t k = 0; k < shape->kernel[0] * shape->kernel[1] * shape->kernel[2]; k++) {
            const int64_t offset[3] = {k / shape->kernel[2] / shape->kernel[1], k / shape->kernel[2] % shape->kernel[1],
                                       k % shape->kernel[2]};
            int32_t inside = 1;
            for (int32_t i = 0; i < 3; i++) {
                at[i] = position[i] * shape->stride[i] - shape->padding[i] + offset[i] * shape->dilation[i];
                inside = inside && at[i] >= 0 && at[i] < input[i];
            }
            *column++ = inside ? x[((c * input[0] + at[0]) * input[1] + at[1]) * input[2] + at[2]] : 0.0f;
        }
    }
}

void graft_conv3d_columns(const struct graft_conv3d_shape *shape, const struct graft_conv3d_args *args, int64_t n,
                          int64_t group, int64_t first, int64_t rows, float *columns) {
    const int64_t *size = args->output_size;
    int64_t channels = shape->in_channels / shape->groups;
    int64_t plane = args->size[0] * args->size[1] * args->size[2];
    int64_t width = channels * shape->kernel[0] * shape->kernel[1] * shape->kernel[2];
    const float *x = args->x + (n * shape->in_channels + group * channels) * plane;
    for (int64_t r = 0; r < rows; r++) {
        int64_t p = first + r;
        const int64_t position[3] = {p / size[2] / size[1], p / size[2] % size[1], p % size[2]};
        fill_column(shape, args->size, x, channels, position, columns + r * width);
    }
}

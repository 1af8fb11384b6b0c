/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes of a Conv3d. Axes are time, height, width. Shared by the files of Conv3d only. */
#ifndef GRAFT_ARCH_BASIC_CONV3D_H
#define GRAFT_ARCH_BASIC_CONV3D_H

#include "graft/class.h"
#include "graft/conv3d.h"

struct graft_conv3d_shape {
    int64_t in_channels;
    int64_t out_channels;
    int64_t groups;
    int64_t kernel[3];
    int64_t stride[3];
    int64_t padding[3];
    int64_t dilation[3];
};

/* [load] Reads and checks the parent's arguments; errors name the module. */
int graft_conv3d_shape_read(const struct graft_args *args, struct graft_conv3d_shape *shape, const char *path,
                            struct graft_error *error);

/* [forward] Checks that `output_size` follows from `size`. */
int graft_conv3d_check_sizes(const struct graft_conv3d_shape *shape, const struct graft_conv3d_args *args,
                             const char *path, struct graft_error *error);

/* [any] Whether each input has the size of the kernel, so that inputs can be used as columns. */
int graft_conv3d_is_product(const struct graft_conv3d_shape *shape, const int64_t input[3]);

/* [forward] Fills in columns [rows, in_channels / groups * kernel] for output positions [first, first + rows) of input
 * `n`: the numbers that the weights of `group` are multiplied by, with zeros outside of the input. */
void graft_conv3d_columns(const struct graft_conv3d_shape *shape, const struct graft_conv3d_args *args, int64_t n,
                          int64_t group, int64_t first, int64_t rows, float *columns);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Interface graft.conv3d/1: a convolution over time, height and width (torch.nn.Conv3d). As in PyTorch it is a
 * cross-correlation, with zeros around the input.
 *
 *   y[n, o, p] = bias[o] + sum over c, k of weight[o, c, k] * x[n, channel c of group(o), q], where
 *   q = p * stride - padding + k * dilation
 *
 * Arguments that parents pass, with defaults in parentheses: in_channels, out_channels, groups (1), bias (0 or 1; 1),
 * and for each of the axes t, h and w: kernel_t, stride_t (1), padding_t (0) and dilation_t (1).
 *
 * The class Conv3d declares the same as attributes: in_channels, out_channels and groups, and kernel_size, stride,
 * padding and dilation with three values each. Its weight is [out_channels, in_channels / groups, kernel t, h, w]. The
 * class Conv2d is the same with a kernel_t of 1, which its weight lacks. */
#ifndef GRAFT_CONV3D_H
#define GRAFT_CONV3D_H

#include "abi.h"
#include "call.h"
#include "error.h"
#include "module.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GRAFT_INTERFACE_CONV3D "graft.conv3d/1"

struct graft_conv3d_args {
    uint32_t struct_size;
    uint32_t required_features;
    int64_t count;          /* of inputs */
    int64_t size[3];        /* of each input: time, height, width */
    int64_t output_size[3]; /* for each axis (size + 2 padding - dilation (kernel - 1) - 1) / stride + 1 */
    const float *x;         /* [count, in_channels, size...] */
    float *y;               /* [count, out_channels, output_size...]; does not overlap x */
};

struct graft_conv3d {
    uint32_t struct_size;
    uint32_t features;
    /* [forward] y = conv(x). Inconsistent sizes are an error. Required. */
    int (*forward)(void *self, const struct graft_call *call, const struct graft_conv3d_args *args,
                   struct graft_error *error);
};

GRAFT_ASSERT_SIZE(struct graft_conv3d_args, 80);
GRAFT_ASSERT_SIZE(struct graft_conv3d, 16);

/* [forward] Calls a module of this interface, and frees the scratch memory it took. */
GRAFT_INLINE int graft_conv3d_forward(const struct graft_module *module, const struct graft_call *call,
                                      const struct graft_conv3d_args *args, struct graft_error *error) {
    const struct graft_conv3d *vtable = (const struct graft_conv3d *)module->forward;
    struct graft_entered in = graft_module_enter(module, call, args->required_features, vtable->features, error);
    int status = in.status == GRAFT_OK ? vtable->forward(module->instance, call, args, error) : in.status;
    return graft_module_leave(module, call, &in, status, error);
}

#ifdef __cplusplus
}
#endif

#endif

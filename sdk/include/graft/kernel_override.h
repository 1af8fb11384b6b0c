/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kernel chosen by name (`--kernels NAME`): another forward for a named class, on the same structure and weights. It
 * is a replacement (plugin.h) that takes effect only when it is asked for, and brings no description and no
 * conversions: parameters, children and the way from the checkpoint stay the original's.
 */
#ifndef GRAFT_KERNEL_OVERRIDE_H
#define GRAFT_KERNEL_OVERRIDE_H

#include "abi.h"
#include "plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Const until the plugin's `deinit`. Kernels of one plugin for several classes may share a name: asking for it means
 * all of them. */
struct graft_kernel_override {
    uint32_t struct_size;
    uint32_t reserved;
    const char *name; /* "fast": letters, digits, '_', '-', '.'; no other plugin may have it */
    /* Its key is GRAFT_KEY_NAME. Its class has `create` and `forward`, and neither `describe`, conversions nor
     * GRAFT_CLASS_CALLS_SUPER; `create` finds what the original described. */
    const struct graft_replacement *replacement;
};

#define GRAFT_KERNEL_OVERRIDE_SIZE_1_0 GRAFT_END_OF(struct graft_kernel_override, replacement)

GRAFT_ASSERT_SIZE(struct graft_kernel_override, 24);

#ifdef __cplusplus
}
#endif

#endif

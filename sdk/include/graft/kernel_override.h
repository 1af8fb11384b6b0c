/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel override, chosen by name (`--kernels NAME`): another forward for a class, with the same structure and
 * weights. It is a replacement (plugin.h) that takes effect only if the user asks for it, and that has no description
 * and no conversions: parameters, children and the conversions from the checkpoint are the original's. */
#ifndef GRAFT_KERNEL_OVERRIDE_H
#define GRAFT_KERNEL_OVERRIDE_H

#include "abi.h"
#include "plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Must not change until the plugin's `deinit`. Overrides of one plugin for several classes may have the same name;
 * asking for it selects all of them. */
struct graft_kernel_override {
    uint32_t struct_size;
    uint32_t reserved;
    const char *name; /* "fast": letters, digits, '_', '-', '.'; unique among all plugins' */
    /* Its key is GRAFT_KEY_NAME. Its class has `create` and `forward`, and neither `describe`, conversions nor
     * GRAFT_CLASS_CALLS_SUPER; `create` gets what the original described. */
    const struct graft_replacement *replacement;
};

#define GRAFT_KERNEL_OVERRIDE_SIZE_1_0 GRAFT_END_OF(struct graft_kernel_override, replacement)

GRAFT_ASSERT_SIZE(struct graft_kernel_override, 24);

#ifdef __cplusplus
}
#endif

#endif

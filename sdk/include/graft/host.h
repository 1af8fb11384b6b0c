/* SPDX-License-Identifier: Apache-2.0 */
/* What the host offers to a plugin, for as long as the process runs. */
#ifndef GRAFT_HOST_H
#define GRAFT_HOST_H

#include "abi.h"
#include "dtype.h"
#include "error.h"

#ifdef __cplusplus
extern "C" {
#endif

struct graft_args;
struct graft_plugin;

struct graft_host {
    uint32_t struct_size;
    uint32_t abi_major;
    uint32_t abi_minor;
    uint32_t reserved;
    const char *version; /* of the host program: "0.1.0" */
    /* [any] A service of the host by its id ("graft.kernels/1"); NULL when this host has none of that name. */
    const void *(*get_extension)(const char *id);
    /* [any] Zeroed memory, NULL when there is none; freed by `free`, which takes NULL. Using malloc instead is fine. */
    void *(*alloc)(int64_t bytes);
    void (*free)(void *block);
    /* [any] The values of the options that `plugin`, the descriptor of who asks, declares (option.h): an argument each,
     * by the option's name. Const and valid from before `init` until `deinit` has returned; NULL at other times. */
    const struct graft_args *(*options)(const struct graft_plugin *plugin);
    /* [any] What another plugin offers under an id that `plugin`, the descriptor of who asks, requires or uses: the
     * same from before `init` until `deinit` has returned. NULL at other times, and where nobody offers it. Of several
     * plugins that do, the first is taken: those registered by calls, in their order, then those from files in the
     * order
     * of `--plugins`; without that order two are an error. */
    const void *(*get_plugin_extension)(const struct graft_plugin *plugin, const char *id);
    /* [any] Bytes of one element, and the name that safetensors files use; 0 and "?" for a number that names no type
     * of this host. */
    int64_t (*dtype_size)(graft_dtype dtype);
    const char *(*dtype_name)(graft_dtype dtype);
};

GRAFT_ASSERT_SIZE(struct graft_host, 80);

#ifdef __cplusplus
}
#endif

#endif

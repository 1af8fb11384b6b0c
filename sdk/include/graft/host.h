/* SPDX-License-Identifier: Apache-2.0 */
/* What the host offers to plugins, as long as the process runs. */
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

/* Belongs to the host; const. */
struct graft_host {
    uint32_t struct_size;
    uint32_t abi_major; /* version of the headers that the host was built with */
    uint32_t abi_minor; /* likewise */
    uint32_t reserved;
    const char *version; /* version of the host program: "1.0.0" */
    /* [any] A service of the host by its id ("graft.kernels/1"), const and valid as long as the process runs; NULL if
     * this host does not have it. */
    const void *(*get_extension)(const char *id);
    /* [any] Zeroed memory, aligned for any type, which the plugin frees with `free`; NULL if memory ran out. malloc may
     * be used instead. */
    void *(*alloc)(int64_t bytes);
    /* [any] Frees memory of `alloc`. Accepts NULL. */
    void (*free)(void *block);
    /* [any] The values of the options (option.h) that the calling plugin declares in its descriptor `plugin`: an
     * argument for each, by the option's name. Const and valid from before `init` until `deinit` has returned; NULL at
     * other times. */
    const struct graft_args *(*options)(const struct graft_plugin *plugin);
    /* [any] What another plugin offers under an id that the calling plugin's descriptor `plugin` requires or uses. The
     * result stays the same from before `init` until `deinit` has returned; NULL at other times, and if nobody offers
     * it. If several plugins do, the first is used: those registered by calls come first, in their order, then those
     * from files, in the order of `--plugins`; without that order two are an error. */
    const void *(*get_plugin_extension)(const struct graft_plugin *plugin, const char *id);
    /* [any] Bytes of one element; 0 for a number that names no type of this host. */
    int64_t (*dtype_size)(graft_dtype dtype);
    /* [any] The name that safetensors files use; "?" for a number that names no type of this host. */
    const char *(*dtype_name)(graft_dtype dtype);
};

GRAFT_ASSERT_SIZE(struct graft_host, 80);

#ifdef __cplusplus
}
#endif

#endif

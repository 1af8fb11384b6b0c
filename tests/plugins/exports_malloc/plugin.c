/* SPDX-License-Identifier: Apache-2.0 */
/* A plugin that brings an allocator, for everybody. */
#include <stdlib.h>

#include "../parts.h"

__attribute__((visibility("default"))) void *malloc(size_t size) {
    (void)size;
    return NULL;
}

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host, (void)error;
    return NULL;
}

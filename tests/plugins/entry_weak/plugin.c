/* SPDX-License-Identifier: Apache-2.0 */
#include "../parts.h"

__attribute__((weak)) const struct graft_plugin *graft_plugin_entry(const struct graft_host *host,
                                                                    struct graft_error *error) {
    (void)host, (void)error;
    return NULL;
}

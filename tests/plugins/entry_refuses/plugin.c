/* SPDX-License-Identifier: Apache-2.0 */
#include "../parts.h"

const struct graft_plugin *graft_plugin_entry(const struct graft_host *host, struct graft_error *error) {
    (void)host;
    (void)graft_error_set(error, GRAFT_ERROR_INTERNAL, "libspecial", "this machine has no AVX-1024\nat all");
    graft_error_hint(error, "buy another");
    return NULL;
}

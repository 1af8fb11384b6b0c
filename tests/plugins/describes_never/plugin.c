/* SPDX-License-Identifier: Apache-2.0 */
/* Its `describe` always fails. */
#define DESCRIBE describe
#include "../behaving.h"

static int describe(const struct graft_class *self, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    (void)self, (void)config, (void)args;
    return graft_error_set(error, GRAFT_ERROR_PLUGIN, sink->path, "words fail it");
}

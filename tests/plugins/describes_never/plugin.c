/* SPDX-License-Identifier: Apache-2.0 */
/* It is not able to describe itself. */
struct graft_args;
struct graft_class;
struct graft_config;
struct graft_error;
struct graft_sink;
static int describe(const struct graft_class *self, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error);
#define DESCRIBE describe
#include "../behaving.h"

static int forward(void *self, const struct graft_call *call, const struct graft_linear_args *args,
                   struct graft_error *error) {
    return original(self, call, args, error);
}

static int describe(const struct graft_class *self, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    (void)self, (void)config, (void)args;
    return graft_error_set(error, GRAFT_ERROR_PLUGIN, sink->path, "words fail it");
}

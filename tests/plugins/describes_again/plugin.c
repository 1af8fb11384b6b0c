/* SPDX-License-Identifier: Apache-2.0 */
/* Describes itself differently each time. */
#define DESCRIBE describe
#include "../behaving.h"

static int describe(const struct graft_class *self, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    static int64_t length;
    (void)self, (void)config, (void)args;
    length++;
    return graft_describe_parameter(sink, "extra", 1, &length, 0, GRAFT_INIT_ZEROS, error);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Assumes that images have 3 channels, whatever an object in the config says. */
#include <stdlib.h>

#include "graft/config.h"

#define TYPE "qwen2_vl"
#define DESCRIBE describe
#include "../behaving.h"

static int describe(const struct graft_class *self, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    int64_t channels = 3;
    (void)self, (void)args, (void)sink;
    int status = graft_config_int(config, "vision_config.in_channels", 1, 4, &channels, error);
    if (channels != 3) {
        abort();
    }
    return status;
}

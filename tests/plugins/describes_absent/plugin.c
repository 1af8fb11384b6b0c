/* SPDX-License-Identifier: Apache-2.0 */
/* Assumes that a field of the config always exists. */
#include <stdlib.h>

#include "graft/config.h"

#define DESCRIBE describe
#include "../behaving.h"

static int describe(const struct graft_class *self, const struct graft_config *config, const struct graft_args *args,
                    const struct graft_sink *sink, struct graft_error *error) {
    (void)self, (void)args, (void)sink, (void)error;
    if (!graft_config_has(config, "pad_token_id")) {
        abort();
    }
    return GRAFT_OK;
}

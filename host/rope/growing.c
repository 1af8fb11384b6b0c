/* SPDX-License-Identifier: Apache-2.0 */
#include "rope/growing.h"

#include <string.h>

/* The places where families have their parameters, also by layer type. */
static const char *const places[] = {
    "rope_scaling.rope_type",
    "rope_scaling.type",
    "rope_parameters.rope_type",
    "rope_parameters.type",
    "rope_parameters.full_attention.rope_type",
    "rope_parameters.sliding_attention.rope_type",
};

/* Types that depend on length; "su" is the name of longrope in Phi-3's first configs. */
static const char *const growing[] = {"dynamic", "longrope", "su"};

static int is_growing(const char *type) {
    for (size_t i = 0; i < sizeof growing / sizeof growing[0]; i++) {
        if (strcmp(type, growing[i]) == 0) {
            return 1;
        }
    }
    return 0;
}

int graft_rope_is_growing(const struct graft_config *config) {
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        const char *type = "";
        if (graft_config_has(config, places[i]) && graft_config_string(config, places[i], &type, NULL) == GRAFT_OK &&
            is_growing(type)) {
            return 1;
        }
    }
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The rotary position embedding's part of config.json. */
#ifndef GRAFT_ARCH_DECODER_ROPE_CONFIG_H
#define GRAFT_ARCH_DECODER_ROPE_CONFIG_H

#include "graft/config.h"

/* Values of `rope_type`. */
enum {
    GRAFT_ROPE_DEFAULT = 0,
    GRAFT_ROPE_LLAMA3 = 1 /* Llama 3.1's: long wavelengths are stretched */
};

struct graft_rope_config {
    int32_t rope_type; /* GRAFT_ROPE_... */
    double rope_theta;
    /* The rest is for GRAFT_ROPE_LLAMA3. */
    double factor;
    double low_freq_factor;
    double high_freq_factor;
    int64_t original_max_position_embeddings;
};

/* [load] Reads `rope_parameters`, or the older spelling: `rope_scaling` (with `rope_type` or `type`) and `rope_theta`
 * beside it. `rope` holds the defaults, in original_max_position_embeddings the model's max_position_embeddings. */
int graft_rope_config_read(const struct graft_config *config, struct graft_rope_config *rope,
                           struct graft_error *error);

/* [any] inv_freq [head_dim / 2], computed in f32. */
void graft_rope_config_inv_freq(const struct graft_rope_config *rope, int64_t head_dim, float *inv_freq);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The rotary position embedding's part of config.json, and the frequencies that follow from it. */
#ifndef GRAFT_ARCH_DECODER_ROPE_CONFIG_H
#define GRAFT_ARCH_DECODER_ROPE_CONFIG_H

#include "graft/config.h"

/* Values of `rope_type`. */
enum {
    GRAFT_ROPE_DEFAULT = 0,
    GRAFT_ROPE_LLAMA3 = 1,  /* Llama 3.1's: long wavelengths are stretched */
    GRAFT_ROPE_LINEAR = 2,  /* positions are divided by `factor` (Chen et al. 2023) */
    GRAFT_ROPE_DYNAMIC = 3, /* the base grows with the sequence, once it is longer than max_position_embeddings */
    GRAFT_ROPE_YARN = 4     /* Peng et al. 2023 */
};

struct graft_rope_config {
    int64_t head_dim;
    int64_t max_position_embeddings;
    int32_t rope_type; /* GRAFT_ROPE_... */
    double rope_theta;
    double factor;
    int64_t original_max_position_embeddings; /* llama3 and yarn */
    double low_freq_factor;                   /* llama3 */
    double high_freq_factor;                  /* llama3 */
    double beta_fast;                         /* yarn: wavelengths that turn more often are kept */
    double beta_slow;                         /* yarn: those that turn less often are divided by `factor` */
    int32_t truncate;                         /* yarn: the bounds between the two are whole numbers */
    double attention_factor;                  /* yarn: of cos and sin; 1 with other types */
    /* Of families with three positions a token: how many of the frequencies, from the first on, turn with time, how
     * many with height and how many with width (Wang et al. 2024, section 2.1). All 0: one position. */
    int64_t mrope_section[3];
};

/* [load] Reads `rope_parameters`, or the older spelling: `rope_scaling` (with `rope_type` or `type`) and `rope_theta`
 * beside it. The caller has filled in head_dim, max_position_embeddings, a default rope_theta, and a default
 * mrope_section where the family has one. */
int graft_rope_config_read(const struct graft_config *config, struct graft_rope_config *rope,
                           struct graft_error *error);

/* [any] inv_freq [head_dim / 2] for a sequence that has `length` tokens so far, computed in f32. */
void graft_rope_inv_freq(const struct graft_rope_config *rope, int64_t length, float *inv_freq);

/* [any] The length from which on they depend on it. */
int64_t graft_rope_fixed_length(const struct graft_rope_config *rope);

#endif

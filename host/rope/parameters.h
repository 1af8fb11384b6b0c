/* SPDX-License-Identifier: Apache-2.0 */
/* The rotary position embedding's part of config.json, and the frequencies that follow from it. */
#ifndef GRAFT_ROPE_PARAMETERS_H
#define GRAFT_ROPE_PARAMETERS_H

#include "graft/rope.h"

/* Values of `rope_type`. */
enum {
    GRAFT_ROPE_DEFAULT = 0,
    GRAFT_ROPE_LLAMA3 = 1,      /* Llama 3.1's: long wavelengths are stretched */
    GRAFT_ROPE_LINEAR = 2,      /* positions are divided by `factor` (Chen et al. 2023) */
    GRAFT_ROPE_DYNAMIC = 3,     /* the base grows with the sequence, once it is longer than max_position_embeddings */
    GRAFT_ROPE_YARN = 4,        /* Peng et al. 2023 */
    GRAFT_ROPE_LONGROPE = 5,    /* a factor for each frequency, others for long sequences (Ding et al. 2024) */
    GRAFT_ROPE_PROPORTIONAL = 6 /* heads rotated as a whole, whose last frequencies are 0 */
};

struct graft_rope {
    int64_t width; /* numbers of a head that are rotated */
    int64_t dim;   /* those that partial_rotary_factor says; one less than `width` where it is odd */
    int64_t max_position_embeddings;
    int32_t rope_type; /* GRAFT_ROPE_... */
    int32_t truncate;  /* yarn: the bounds between the two are whole numbers */
    double rope_theta;
    double factor;
    int64_t original_max_position_embeddings; /* llama3, yarn and longrope */
    double low_freq_factor;                   /* llama3 */
    double high_freq_factor;                  /* llama3 */
    double beta_fast;                         /* yarn: wavelengths that turn more often are kept */
    double beta_slow;                         /* yarn: those that turn less often are divided by `factor` */
    double attention_factor;                  /* of cos and sin */
    double short_mscale;                      /* in its place, if not 0: of sequences within the original length */
    double long_mscale;                       /* of longer ones */
    double partial_rotary_factor;
    int64_t mrope_section[3]; /* as in graft_rope_info; likewise: */
    int32_t interleaved_sections;
    float *short_factor; /* [width / 2]; longrope, of sequences within original_max_position_embeddings */
    float *long_factor;  /* [width / 2]; likewise, of longer ones */
};

/* [load] Fills in a zeroed `rope`, which is to be finished also on failure. */
int graft_rope_read(const struct graft_config *config, const struct graft_rope_info *info, struct graft_rope *rope,
                    struct graft_error *error);
void graft_rope_finish(struct graft_rope *rope);

/* [any] inv_freq [width / 2] for a sequence that has `length` tokens so far, computed in f32. */
void graft_rope_inv_freq(const struct graft_rope *rope, int64_t length, float *inv_freq);

/* [any] What cos and sin of such a sequence are multiplied by. */
float graft_rope_scale(const struct graft_rope *rope, int64_t length);

/* [any] The length from which on they depend on it. */
int64_t graft_rope_fixed_length(const struct graft_rope *rope);

#endif

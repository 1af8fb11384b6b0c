/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the rotary position embedding's fields of config.json, and computes its frequencies. */
#ifndef GRAFT_ROPE_PARAMETERS_H
#define GRAFT_ROPE_PARAMETERS_H

#include "graft/rope.h"

/* Values of `rope_type`. */
enum {
    GRAFT_ROPE_DEFAULT = 0,
    GRAFT_ROPE_LLAMA3 = 1,      /* Llama 3.1: long wavelengths are stretched */
    GRAFT_ROPE_LINEAR = 2,      /* positions are divided by `factor` (Chen et al. 2023) */
    GRAFT_ROPE_DYNAMIC = 3,     /* the base grows with sequences longer than max_position_embeddings */
    GRAFT_ROPE_YARN = 4,        /* Peng et al. 2023 */
    GRAFT_ROPE_LONGROPE = 5,    /* a factor for each frequency, with others for long sequences (Ding et al. 2024) */
    GRAFT_ROPE_PROPORTIONAL = 6 /* whole heads are rotated, with frequencies of 0 at the end */
};

struct graft_rope {
    int64_t width; /* number of rotated elements of a head */
    int64_t dim;   /* the width that partial_rotary_factor gives; width - 1 if that is odd */
    int64_t max_position_embeddings;
    int32_t rope_type; /* GRAFT_ROPE_... */
    int32_t truncate;  /* yarn: both bounds are rounded to whole numbers */
    double rope_theta;
    double factor;
    int64_t original_max_position_embeddings; /* for llama3, yarn and longrope */
    double low_freq_factor;                   /* llama3 */
    double high_freq_factor;                  /* llama3 */
    double beta_fast;                         /* yarn: frequencies with more turns than this are kept */
    double beta_slow;                         /* yarn: those with fewer turns are divided by `factor` */
    double attention_factor;                  /* factor of cos and sin */
    double short_mscale;                      /* replaces it, unless 0, for sequences within the original length */
    double long_mscale;                       /* the same for longer sequences */
    double partial_rotary_factor;
    int64_t mrope_section[3]; /* as in graft_rope_info, like the next */
    int32_t interleaved_sections;
    float *short_factor; /* [width / 2] longrope, for sequences within original_max_position_embeddings */
    float *long_factor;  /* [width / 2] longrope, for longer sequences */
};

/* [load] Fills in a zeroed `rope`. The caller finishes it, even on failure. */
int graft_rope_read(const struct graft_config *config, const struct graft_rope_info *info, struct graft_rope *rope,
                    struct graft_error *error);
void graft_rope_finish(struct graft_rope *rope);

/* [any] Computes inv_freq [width / 2], in f32, for a sequence that has `length` tokens so far. */
void graft_rope_inv_freq(const struct graft_rope *rope, int64_t length, float *inv_freq);

/* [any] The factor of cos and sin for a sequence of this length. */
float graft_rope_scale(const struct graft_rope *rope, int64_t length);

/* [any] The length from which on frequencies and factor depend on the length. */
int64_t graft_rope_fixed_length(const struct graft_rope *rope);

#endif

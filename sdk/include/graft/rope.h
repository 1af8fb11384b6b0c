/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graft.rope/1: rotary position embeddings (Su et al. 2021) as config.json describes them, of every rope type: default,
 * linear, dynamic, llama3, yarn, longrope and proportional. A host extension; classes reach it through `host` of
 * graft_sink and graft_build.
 *
 * A rotation is made from the config in `create`, once for each set of parameters: a model whose layer types have bases
 * of their own makes two. `describe` may make one and destroy it, so that a config at fault is known before any weight.
 */
#ifndef GRAFT_ROPE_H
#define GRAFT_ROPE_H

#include "batch.h"
#include "call.h"
#include "config.h"
#include "host.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GRAFT_ROPE_ID "graft.rope/1"

/* The host's. */
struct graft_rope;

/* Which parameters are meant, and what holds where the config leaves something out. The caller's. */
struct graft_rope_info {
    uint32_t struct_size;
    uint32_t reserved;
    /* The path of the object that has them, and then nothing beside it counts but original_max_position_embeddings:
     * "rope_parameters.sliding_attention". One that the config lacks has the defaults. NULL: as most models have it, a
     * `rope_scaling` that is not empty, else `rope_parameters`, with rope_theta and partial_rotary_factor in it or
     * beside it. */
    const char *object;
    int64_t head_dim;                /* numbers of a head, of which all or the first are rotated; 2 to 65536 */
    int64_t max_position_embeddings; /* of the config; > 0 */
    double rope_theta;               /* the default base */
    double partial_rotary_factor;    /* the default; 0: 1 */
    /* Of families with three positions a token: how many of the frequencies, from the first on, turn with time, how
     * many with height and how many with width (Wang et al. 2024, section 2.1), by default. All 0: one position. */
    int64_t mrope_section[3];
    /* 1: whole heads are rotated, and so partial_rotary_factor says nothing where the type is "default". With other
     * types it does: what it makes of the frequencies fits no whole head. */
    int32_t whole_heads;
    uint32_t reserved_2;
    /* Later than 1.0. 1: with `alpha` the type "dynamic" is "default", with a base multiplied by
     * alpha ** (dim / (dim - 2)). */
    int32_t takes_alpha;
    /* 1: with any type but "default", cos and sin are multiplied by short_mscale, or by long_mscale in sequences longer
     * than original_max_position_embeddings, whose frequencies are those of shorter ones (Phi-3.5-MoE). */
    int32_t takes_mscales;
    double base; /* the base, whatever the config has as rope_theta; 0: that */
    /* 1: with mrope_section time, height and width take turns, frequency by frequency, as long as height and width have
     * some left (Qwen3-VL); 0: those of each follow each other. */
    int32_t interleaved_sections;
    uint32_t reserved_3;
};

/* The host's, const. */
struct graft_rope_service {
    uint32_t struct_size;
    uint32_t reserved;
    /* [load] Reads a rotation; errors name file and field. The config is not kept. On success the caller owns *rope. */
    int (*create)(const struct graft_config *config, const struct graft_rope_info *info, struct graft_rope **rope,
                  struct graft_error *error);
    /* [load] Takes NULL. */
    void (*destroy)(struct graft_rope *rope);
    /* [any] How many numbers of a head are rotated, from the first on; even. */
    int64_t (*width)(const struct graft_rope *rope);
    /* [any] inv_freq [width / 2] of a sequence that has `length` tokens so far; cos and sin are to be multiplied by
     * what it returns, the attention factor. */
    float (*frequencies)(const struct graft_rope *rope, int64_t length, float *inv_freq);
    /* [forward] cos, sin [tokens, width], both halves of a row the same, scaled by the attention factor, for the
     * positions of the batch: `rotary_positions` where the rotation has sections and the batch gives them, else
     * `positions`. Each sequence has the frequencies of its own length. */
    int (*angles)(const struct graft_rope *rope, const struct graft_call *call, const struct graft_batch *batch,
                  float *cos, float *sin, struct graft_error *error);
};

GRAFT_ASSERT_SIZE(struct graft_rope_info, 104);
GRAFT_ASSERT_SIZE(struct graft_rope_service, 48);

/* [any] The service of a host. */
GRAFT_INLINE const struct graft_rope_service *graft_rope_service_of(const struct graft_host *host) {
    return (const struct graft_rope_service *)host->get_extension(GRAFT_ROPE_ID);
}

#ifdef __cplusplus
}
#endif

#endif

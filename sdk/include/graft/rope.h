/* SPDX-License-Identifier: Apache-2.0 */
/* graft.rope/1: rotary position embeddings (Su et al. 2021) as config.json describes them, of every rope type: default,
 * linear, dynamic, llama3, yarn, longrope and proportional. It is an extension of the host; classes get it through
 * `host` of graft_sink and graft_build. A rotation is created from the config in `create`, one for each set of
 * parameters: a model whose layer types have different bases creates two. `describe` may create one and destroy it, so
 * that an error in the config is found before weights are read. */
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

/* Which parameters to read, and defaults. Belongs to the caller. */
struct graft_rope_info {
    uint32_t struct_size;
    uint32_t reserved;
    /* The path of the object that has the parameters: "rope_parameters.sliding_attention". Then nothing outside of it
     * is read but original_max_position_embeddings, and if the config lacks it the defaults are used. NULL, for most
     * models: `rope_scaling` if it is not empty, else `rope_parameters`; rope_theta and partial_rotary_factor may be in
     * it or next to it. */
    const char *object;
    int64_t head_dim;                /* width of a head; 2 to 65536 */
    int64_t max_position_embeddings; /* of the config; > 0 */
    double rope_theta;               /* the default base */
    double partial_rotary_factor;    /* the default; 0: 1 */
    /* For families with three positions per token, the default of mrope_section: how many of the frequencies, from the
     * first on, are rotated by time, height and width (Wang et al. 2024, section 2.1). All 0: one position. */
    int64_t mrope_section[3];
    /* 1: whole heads are rotated, so partial_rotary_factor has no effect if the type is "default". For other types it
     * is an error, because the frequencies would not fit whole heads. */
    int32_t whole_heads;
    uint32_t reserved_2;
    /* Later than 1.0. 1: if the parameters have `alpha`, the type "dynamic" is "default" with the base multiplied by
     * alpha ** (dim / (dim - 2)). */
    int32_t takes_alpha;
    /* 1: for any type but "default", cos and sin are multiplied by short_mscale, or by long_mscale in sequences longer
     * than original_max_position_embeddings; frequencies are always those of short sequences (Phi-3.5-MoE). */
    int32_t takes_mscales;
    double base; /* the base, overriding rope_theta; 0: not overridden */
    /* 1: with mrope_section, frequencies alternate between time, height and width as long as height and width have some
     * left (Qwen3-VL); 0: those of time come first, then height, then width. */
    int32_t interleaved_sections;
    uint32_t reserved_3;
};

/* Belongs to the host; const. */
struct graft_rope_service {
    uint32_t struct_size;
    uint32_t reserved;
    /* [load] Reads a rotation; errors name file and field. The config is not kept. On success the caller owns *rope. */
    int (*create)(const struct graft_config *config, const struct graft_rope_info *info, struct graft_rope **rope,
                  struct graft_error *error);
    /* [load] Accepts NULL. */
    void (*destroy)(struct graft_rope *rope);
    /* [any] How many numbers of a head are rotated, from the first on; even. */
    int64_t (*width)(const struct graft_rope *rope);
    /* [any] Fills in inv_freq [width / 2] for a sequence of `length` tokens. Returns the attention factor, by which cos
     * and sin have to be multiplied. */
    float (*frequencies)(const struct graft_rope *rope, int64_t length, float *inv_freq);
    /* [forward] Fills in cos, sin [tokens, width], whose rows have two equal halves, multiplied by the attention
     * factor, for the positions of the batch: `rotary_positions` if the rotation has sections and the batch provides
     * them, else `positions`. Each sequence has the frequencies of its own length. */
    int (*angles)(const struct graft_rope *rope, const struct graft_call *call, const struct graft_batch *batch,
                  float *cos, float *sin, struct graft_error *error);
};

GRAFT_ASSERT_SIZE(struct graft_rope_info, 104);
GRAFT_ASSERT_SIZE(struct graft_rope_service, 48);

/* [any] The host's service. */
GRAFT_INLINE const struct graft_rope_service *graft_rope_service_of(const struct graft_host *host) {
    return (const struct graft_rope_service *)host->get_extension(GRAFT_ROPE_ID);
}

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* How to generate, under the names of generation_config.json. */
#ifndef GRAFT_HOST_GENERATION_H
#define GRAFT_HOST_GENERATION_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* graft_model_generation fills it with a model's defaults; change what you want. */
struct graft_generation {
    uint32_t struct_size;
    int32_t do_sample;         /* 0: take the token with the largest logit */
    int64_t max_new_tokens;    /* per sequence; >= 0 */
    double temperature;        /* > 0: logits are divided by it */
    int64_t top_k;             /* only the k largest logits, and those equal to the k-th; 0: all */
    double top_p;              /* (0, 1]: only the most probable tokens that together reach this */
    double repetition_penalty; /* > 0: divides positive logits of earlier tokens, multiplies negative ones; 1: off */
    uint64_t seed;             /* the same seed, model and prompt give the same text */
    int32_t ignore_eos;        /* 1: always go on to max_new_tokens */
    /* Guesses this many tokens at most from what the sequence said before, and checks them in one forward (prompt
     * look-up). Never changes what is generated; 0: off. */
    int32_t speculate;
};

#define GRAFT_GENERATION_SIZE_1_0 GRAFT_END_OF(struct graft_generation, speculate)

#ifdef __cplusplus
}
#endif

#endif

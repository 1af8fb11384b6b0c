/* SPDX-License-Identifier: Apache-2.0 */
/* Heads of queries, keys and values: rotates them and runs attention on them, for all attention classes. */
#ifndef GRAFT_ARCH_DECODER_ATTEND_H
#define GRAFT_ARCH_DECODER_ATTEND_H

#include "arch/pass.h"
#include "graft/attention.h"
#include "graft/kernels.h"
#include "graft/parts.h"

/* Heads of a batch's tokens, in scratch memory. */
struct graft_heads {
    float *x;            /* [tokens, heads, head_dim] */
    int64_t stride;      /* floats from one token to the next */
    int64_t head_stride; /* floats from one head to the next */
};

struct graft_projected {
    struct graft_heads q;
    struct graft_heads k;
    struct graft_heads v;
    struct graft_heads
        gate; /* factors of the heads' output, one for each number or one for each head; x is NULL: none */
};

/* [any] Heads without gaps. */
static inline struct graft_heads graft_heads_packed(float *x, int64_t heads, int64_t head_dim) {
    return (struct graft_heads){x, heads * head_dim, head_dim};
}

/* [any] Head number `i`, counted over the `heads` heads of all tokens. */
static inline float *graft_heads_at(const struct graft_heads *x, int64_t heads, int64_t i) {
    return x->x + i / heads * x->stride + i % heads * x->head_stride;
}

/* [forward] copy [tokens, heads, head_dim] = x, without gaps; in memory of its own if `copy` is NULL. */
float *graft_heads_copy(const struct graft_pass *pass, const struct graft_heads *x, int64_t heads, int64_t head_dim,
                        float *copy);

/* [forward] Rotates queries, and keys unless `has_keys` is 0, if args has angles. */
void graft_heads_rotate(const struct graft_parts_attention_sizes *sizes, const struct graft_pass *pass,
                        const struct graft_self_attention_args *args, const struct graft_projected *x, int has_keys);

/* [any] The arguments of the kernel, all but the output; callers may change them. */
struct graft_attention_args graft_heads_args(const struct graft_parts_attention_sizes *sizes,
                                             const struct graft_self_attention_args *args,
                                             const struct graft_projected *x);

/* [forward] Runs the kernel: context [tokens, heads, v_head_dim]. */
float *graft_heads_run(const struct graft_pass *pass, struct graft_attention_args *args);

/* [forward] Rotates queries and keys, and attends: context [tokens, heads, head_dim]. */
float *graft_heads_attend(const struct graft_parts_attention_sizes *sizes, const struct graft_pass *pass,
                          const struct graft_self_attention_args *args, const struct graft_projected *x);

#endif

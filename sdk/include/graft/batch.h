/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A ragged batch: the tokens of several sequences one behind the other, [tokens, ...], with no padding between them.
 */
#ifndef GRAFT_BATCH_H
#define GRAFT_BATCH_H

#include "abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Keys and values of earlier tokens, per layer and sequence; the host's. */
struct graft_kv_cache;

struct graft_batch {
    uint32_t struct_size;
    int32_t sequences;            /* number of sequences in this batch */
    int64_t tokens;               /* cu_seqlens[sequences] */
    const int64_t *cu_seqlens;    /* [sequences + 1]: sequence s holds the tokens [cu_seqlens[s], cu_seqlens[s + 1]) */
    const int64_t *positions;     /* [tokens]: the position of each token in its sequence, from 0 */
    const int32_t *slots;         /* [sequences]: where the sequence lives in the KV cache */
    struct graft_kv_cache *cache; /* NULL: no earlier tokens, and none are kept */
};

GRAFT_ASSERT_SIZE(struct graft_batch, 48);

#ifdef __cplusplus
}
#endif

#endif

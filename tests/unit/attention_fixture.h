/* SPDX-License-Identifier: Apache-2.0 */
/* Random sequences, batches of them for an attention, and the expected results in double. */
#ifndef GRAFT_TEST_ATTENTION_FIXTURE_H
#define GRAFT_TEST_ATTENTION_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "kernels/attention.h"
#include "kernels/cache.h"
#include "kernels/cpu.h"
#include "kernels/kernels.h"
#include "kernels/threads.h"
#include "numbers.h"

enum { MAX_SEQUENCES = 3, MAX_KEYS = 700 };

struct heads {
    int64_t heads;
    int64_t kv_heads;
    int64_t head_dim;
    int64_t v_head_dim;
    float softcap;
    const float *sinks;
    const float *alibi;
    int alibi_rounded;
    const float *relative; /* [heads, 2 * reach + 1] */
    int64_t reach;
    int64_t gap; /* floats between heads; 0: their strides are left to the host */
    int shared;  /* each value is the first v_head_dim numbers of its key */
    int latents; /* keys and values are computed from latents, in which both are stored one after the other */
};

/* Whole sequences; a batch contains the tokens from `past` to `past + tokens` of each. */
struct sequences {
    int32_t n;
    int64_t past[MAX_SEQUENCES];
    int64_t tokens[MAX_SEQUENCES];
    float *q; /* [n, MAX_KEYS, heads, head_dim] */
    float *k; /* [n, MAX_KEYS, kv_heads, head_dim] */
    float *v; /* [n, MAX_KEYS, kv_heads, v_head_dim] */
};

static struct graft_scratch *scratch;
static struct graft_call call;
static float tolerance = 2e-6f;

static inline struct sequences sequences_create(const struct heads *heads, int32_t n) {
    int64_t tokens = (int64_t)n * MAX_KEYS;
    struct sequences sequences = {.n = n,
                                  .q = numbers_floats(tokens * heads->heads * heads->head_dim),
                                  .k = numbers_floats(tokens * heads->kv_heads * heads->head_dim),
                                  .v = numbers_floats(tokens * heads->kv_heads * heads->v_head_dim)};
    return sequences;
}

static inline void sequences_destroy(struct sequences *sequences) {
    numbers_free(sequences->q, 4);
    numbers_free(sequences->k, 4);
    numbers_free(sequences->v, 4);
}

/* A batch copied from the sequences, with strides of its own. */
struct batch {
    struct graft_batch batch;
    struct graft_mask mask;
    struct graft_attention_args args;
    struct graft_attention_latents latents;
    int64_t cu_seqlens[MAX_SEQUENCES + 1];
    int32_t slots[MAX_SEQUENCES];
    int64_t *positions;
    float *q;
    float *k;
    float *v;
    float *output;
};

static inline float *copied(const struct sequences *sequences, const float *from, int64_t heads, int64_t dim,
                            int64_t gap, int64_t stride) {
    int64_t total = sequences->tokens[0] + sequences->tokens[1] + sequences->tokens[2];
    float *out = numbers_alloc(total * stride + 1, 4);
    int64_t done = 0;
    for (int32_t s = 0; s < sequences->n; s++) {
        for (int64_t t = 0; t < sequences->tokens[s]; t++, done++) {
            for (int64_t h = 0; h < heads; h++) {
                memcpy(out + done * stride + h * (dim + gap),
                       from + ((s * MAX_KEYS + sequences->past[s] + t) * heads + h) * dim, (size_t)dim * sizeof *out);
            }
        }
    }
    return out;
}

/* A latent contains the keys of all heads, then the values; each head's rows are made contiguous. */
static inline int expand(void *instance, const struct graft_call *forward_call, const float *rows, int64_t tokens,
                         float *k, float *v, struct graft_error *error) {
    const struct heads *heads = instance;
    int64_t k_width = heads->kv_heads * heads->head_dim;
    int64_t v_width = heads->kv_heads * heads->v_head_dim;
    if (graft_scratch_floats(forward_call, tokens, k_width, error) == NULL) { /* the host releases it */
        return GRAFT_ERROR_INTERNAL;
    }
    for (int64_t t = 0; t < tokens; t++) {
        const float *row = rows + t * (k_width + v_width);
        for (int64_t h = 0; h < heads->kv_heads; h++) {
            memcpy(k + (h * tokens + t) * heads->head_dim, row + h * heads->head_dim,
                   (size_t)heads->head_dim * sizeof *k);
            memcpy(v + (h * tokens + t) * heads->v_head_dim, row + k_width + h * heads->v_head_dim,
                   (size_t)heads->v_head_dim * sizeof *v);
        }
    }
    return GRAFT_OK;
}

/* Replaces the batch's keys and values by latents. */
static inline void keep_latents(struct batch *batch, const struct heads *heads) {
    int64_t k_width = heads->kv_heads * heads->head_dim;
    int64_t width = k_width + heads->kv_heads * heads->v_head_dim;
    int64_t total = batch->batch.tokens;
    float *rows = numbers_alloc(total * width + 1, 4);
    for (int64_t t = 0; t < total; t++) {
        memcpy(rows + t * width, batch->k + t * batch->args.k_stride, (size_t)k_width * sizeof *rows);
        memcpy(rows + t * width + k_width, batch->v + t * batch->args.v_stride,
               (size_t)(width - k_width) * sizeof *rows);
    }
    numbers_free(batch->k, 4);
    batch->k = rows;
    batch->latents = (struct graft_attention_latents){
        .struct_size = sizeof batch->latents,
        .width = width,
        .rows = rows,
        .expand = expand,
        .instance = (void *)(uintptr_t)heads,
    };
    batch->args.latents = &batch->latents;
    batch->args.k = batch->args.v = NULL;
}

static inline struct batch *batch_create(const struct heads *heads, const struct sequences *sequences,
                                         struct graft_mask mask, struct graft_cache *cache) {
    struct batch *batch = calloc(1, sizeof *batch);
    int64_t q_stride = heads->heads * (heads->head_dim + heads->gap) + 1;
    int64_t k_stride = heads->kv_heads * (heads->head_dim + heads->gap) + 2;
    int64_t v_stride = heads->kv_heads * (heads->v_head_dim + heads->gap) + 3;
    int64_t output_stride = heads->heads * heads->v_head_dim + 4;
    batch->positions = calloc(MAX_SEQUENCES * MAX_KEYS, sizeof *batch->positions);
    for (int32_t s = 0; s < sequences->n; s++) {
        batch->cu_seqlens[s + 1] = batch->cu_seqlens[s] + sequences->tokens[s];
        batch->slots[s] = s;
        for (int64_t t = 0; t < sequences->tokens[s]; t++) {
            batch->positions[batch->cu_seqlens[s] + t] = sequences->past[s] + t;
        }
    }
    int64_t total = batch->cu_seqlens[sequences->n];
    batch->batch = (struct graft_batch){.struct_size = sizeof batch->batch,
                                        .sequences = sequences->n,
                                        .tokens = total,
                                        .cu_seqlens = batch->cu_seqlens,
                                        .positions = batch->positions,
                                        .slots = batch->slots,
                                        .cache = cache};
    batch->mask = mask;
    batch->mask.relative = heads->relative;
    batch->mask.reach = heads->reach;
    batch->q = copied(sequences, sequences->q, heads->heads, heads->head_dim, heads->gap, q_stride);
    batch->k = copied(sequences, sequences->k, heads->kv_heads, heads->head_dim, heads->gap, k_stride);
    batch->v = copied(sequences, sequences->v, heads->kv_heads, heads->v_head_dim, heads->gap, v_stride);
    batch->output = numbers_floats(total * output_stride);
    batch->args = (struct graft_attention_args){
        .struct_size = sizeof batch->args,
        .batch = &batch->batch,
        .mask = &batch->mask,
        .heads = heads->heads,
        .kv_heads = heads->kv_heads,
        .head_dim = heads->head_dim,
        .v_head_dim = heads->v_head_dim != heads->head_dim ? heads->v_head_dim : 0,
        .scaling = 0.3f,
        .softcap = heads->softcap,
        .sinks = heads->sinks,
        .alibi = heads->alibi,
        .alibi_rounded = heads->alibi_rounded,
        .q = batch->q,
        .q_stride = q_stride,
        .q_head_stride = heads->gap > 0 ? heads->head_dim + heads->gap : 0,
        .k = batch->k,
        .k_stride = k_stride,
        .k_head_stride = heads->gap > 0 ? heads->head_dim + heads->gap : 0,
        .v = heads->shared ? NULL : batch->v,
        .v_stride = v_stride,
        .v_head_stride = heads->gap > 0 ? heads->v_head_dim + heads->gap : 0,
        .output = batch->output,
        .output_stride = output_stride,
    };
    if (heads->latents) {
        keep_latents(batch, heads);
    }
    return batch;
}

static inline void batch_destroy(struct batch *batch) {
    numbers_free(batch->q, 4);
    numbers_free(batch->k, 4);
    numbers_free(batch->v, 4);
    numbers_free(batch->output, 4);
    free(batch->positions);
    free(batch);
}

static inline void run(const struct batch *batch) {
    struct graft_error error = graft_error_none();
    int64_t mark = call.scratch_mark(scratch);
    if (call.kernels->attention(&call, &batch->args, &error) != GRAFT_OK) {
        fail_msg("%s", error.message);
    }
    assert_int_equal(call.scratch_mark(scratch), mark);
}

/* The additional score: -inf if query i must not see key j. */
static inline double mask_at(const struct graft_mask *mask, int64_t token, int64_t i, int64_t j) {
    int causal = j <= i;
    switch (mask->kind) {
    case GRAFT_MASK_CAUSAL:
        return causal ? 0.0 : -INFINITY;
    case GRAFT_MASK_SLIDING:
        return causal && j > i - mask->window ? 0.0 : -INFINITY;
    case GRAFT_MASK_CHUNKED:
        return causal && j / mask->window == i / mask->window ? 0.0 : -INFINITY;
    case GRAFT_MASK_WINDOW:
        return i - j <= mask->left && j - i <= mask->right ? 0.0 : -INFINITY;
    case GRAFT_MASK_DENSE:
        return (double)mask->bias[token * mask->bias_stride + j];
    default:
        return 0.0;
    }
}

/* The bias of the score of key j for its position. Slope and position are small enough that their product is exact in
 * f32. */
static inline double alibi_at(const struct heads *heads, int64_t h, int64_t j, double scaling) {
    const float bias = heads->alibi[h] * (float)j;
    return heads->alibi_rounded ? (double)graft_f32_from_bf16(graft_bf16_from_f32(bias)) * scaling : (double)bias;
}

/* Computes out [v_head_dim] of one query and head. */
static inline void expect(const struct heads *heads, const struct sequences *sequences, const struct batch *batch,
                          int32_t s, int64_t t, int64_t h, double *out) {
    static double scores[MAX_KEYS];
    int64_t dim = heads->head_dim;
    int64_t i = sequences->past[s] + t;
    int64_t keys = sequences->past[s] + sequences->tokens[s];
    int64_t kv_head = h / (heads->heads / heads->kv_heads);
    const float *q = sequences->q + ((s * MAX_KEYS + i) * heads->heads + h) * dim;
    double largest = -INFINITY;
    double sum = 0.0;
    for (int64_t j = 0; j < keys; j++) {
        const float *k = sequences->k + ((s * MAX_KEYS + j) * heads->kv_heads + kv_head) * dim;
        const double mask = mask_at(&batch->mask, batch->cu_seqlens[s] + t, i, j);
        double score = 0.0;
        for (int64_t d = 0; d < dim && mask > -INFINITY; d++) {
            score += (double)q[d] * (double)k[d];
        }
        score *= (double)batch->args.scaling;
        if (heads->softcap > 0.0f) {
            score = (double)heads->softcap * tanh(score / (double)heads->softcap);
        }
        if (heads->alibi != NULL) {
            score += alibi_at(heads, h, j, (double)batch->args.scaling);
        }
        if (heads->relative != NULL) {
            const int64_t distance = j - i < -heads->reach  ? -heads->reach
                                     : j - i > heads->reach ? heads->reach
                                                            : j - i;
            score += (double)heads->relative[h * (2 * heads->reach + 1) + heads->reach + distance];
        }
        scores[j] = score + mask;
        largest = fmax(largest, scores[j]);
    }
    if (heads->sinks != NULL && largest > -INFINITY) {
        sum = exp((double)heads->sinks[h] - largest);
    }
    memset(out, 0, (size_t)heads->v_head_dim * sizeof *out);
    for (int64_t j = 0; j < keys && largest > -INFINITY; j++) {
        scores[j] = exp(scores[j] - largest);
        sum += scores[j];
    }
    for (int64_t j = 0; j < keys && largest > -INFINITY; j++) {
        int64_t row = (s * MAX_KEYS + j) * heads->kv_heads + kv_head;
        const float *v = heads->shared ? sequences->k + row * dim : sequences->v + row * heads->v_head_dim;
        const double weight = scores[j] / sum;
        for (int64_t d = 0; d < heads->v_head_dim && weight != 0.0; d++) {
            out[d] += weight * (double)v[d];
        }
    }
}

static inline void check_values(const struct heads *heads, const struct sequences *sequences,
                                const struct batch *batch) {
    double out[256];
    for (int32_t s = 0; s < sequences->n; s++) {
        for (int64_t t = 0; t < sequences->tokens[s]; t++) {
            for (int64_t h = 0; h < heads->heads; h++) {
                expect(heads, sequences, batch, s, t, h, out);
                const float *found = batch->output + (batch->cu_seqlens[s] + t) * batch->args.output_stride;
                for (int64_t d = 0; d < heads->v_head_dim; d++) {
                    assert_true(numbers_close(found[h * heads->v_head_dim + d], (float)out[d], tolerance, 1e-5f));
                }
            }
        }
    }
}

#define SHAPE(a, b, c, d) .heads = (a), .kv_heads = (b), .head_dim = (c), .v_head_dim = (d)

/* Selects the next setting for the tests: sdpa with each instruction set, then eager with the best one. Only the loops
 * differ between instruction sets, and eager's are those of sdpa. Returns 0 after the last. */
static inline int attention_turn(int turn) {
    int best = (int)graft_cpu_best_isa(), isa = turn < best ? turn : best;
    graft_scratch_destroy(scratch);
    scratch = NULL;
    if (turn > best + 1) {
        return 0;
    }
    scratch = graft_scratch_create();
    graft_threads_set_count(2);
    graft_call_init(&call, GRAFT_PRECISION_AUTO, scratch);
    graft_cpu_set_isa(isa);
    call.attention = turn > best ? &graft_attention_eager : &graft_attention_sdpa;
    print_message("%s, %s\n", graft_cpu_isa_name(isa), call.attention->name);
    return 1;
}

#endif

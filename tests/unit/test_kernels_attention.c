/* SPDX-License-Identifier: Apache-2.0 */
/* Attention, each of the implementations, against softmax in double: all masks and features, ragged batches, with and
 * without a cache. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "kernels/attention.h"
#include "kernels/cache.h"
#include "kernels/cpu.h"
#include "kernels/kernels.h"
#include "kernels/parallel.h"
#include "numbers.h"

enum { MAX_SEQUENCES = 3, MAX_KEYS = 700 };

struct heads {
    int64_t heads;
    int64_t kv_heads;
    int64_t head_dim;
    int64_t v_head_dim;
    float softcap;
    const float *sinks;
    int64_t gap; /* floats between heads; 0: their strides are left to the host */
    int shared;  /* values are the beginnings of the keys */
    int latents; /* keys and values are made from those, which are both one behind the other */
};

/* Whole sequences, of which a batch holds the tokens from `past` to `past + tokens` of each. */
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

static struct sequences sequences_create(const struct heads *heads, int32_t n) {
    int64_t tokens = (int64_t)n * MAX_KEYS;
    struct sequences sequences = {.n = n,
                                  .q = numbers_floats(tokens * heads->heads * heads->head_dim),
                                  .k = numbers_floats(tokens * heads->kv_heads * heads->head_dim),
                                  .v = numbers_floats(tokens * heads->kv_heads * heads->v_head_dim)};
    return sequences;
}

static void sequences_destroy(struct sequences *sequences) {
    numbers_free(sequences->q, 4);
    numbers_free(sequences->k, 4);
    numbers_free(sequences->v, 4);
}

/* A batch copied out of the sequences, with strides of its own. */
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

static float *copied(const struct sequences *sequences, const float *from, int64_t heads, int64_t dim, int64_t gap,
                     int64_t stride) {
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

/* A latent is the keys of all heads, then the values; each head's rows become one behind the other. */
static int expand(void *instance, const struct graft_call *forward_call, const float *rows, int64_t tokens, float *k,
                  float *v, struct graft_error *error) {
    const struct heads *heads = instance;
    int64_t k_width = heads->kv_heads * heads->head_dim;
    int64_t v_width = heads->kv_heads * heads->v_head_dim;
    if (graft_scratch_floats(forward_call, tokens, k_width, error) == NULL) { /* the host takes it back */
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

/* Puts latents into the place of the batch's keys, and takes keys and values away. */
static void keep_latents(struct batch *batch, const struct heads *heads) {
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

static struct batch *batch_create(const struct heads *heads, const struct sequences *sequences, struct graft_mask mask,
                                  struct graft_cache *cache) {
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

static void batch_destroy(struct batch *batch) {
    numbers_free(batch->q, 4);
    numbers_free(batch->k, 4);
    numbers_free(batch->v, 4);
    numbers_free(batch->output, 4);
    free(batch->positions);
    free(batch);
}

static void run(const struct batch *batch) {
    struct graft_error error = graft_error_none();
    int64_t mark = call.scratch_mark(scratch);
    if (call.kernels->attention(&call, &batch->args, &error) != GRAFT_OK) {
        fail_msg("%s", error.message);
    }
    assert_int_equal(call.scratch_mark(scratch), mark);
}

/* -inf where query i may not see key j. */
static double mask_at(const struct graft_mask *mask, int64_t token, int64_t i, int64_t j) {
    int causal = j <= i;
    switch (mask->kind) {
    case GRAFT_MASK_CAUSAL:
        return causal ? 0.0 : -INFINITY;
    case GRAFT_MASK_SLIDING:
        return causal && j > i - mask->window ? 0.0 : -INFINITY;
    case GRAFT_MASK_WINDOW:
        return i - j <= mask->left && j - i <= mask->right ? 0.0 : -INFINITY;
    case GRAFT_MASK_DENSE:
        return (double)mask->bias[token * mask->bias_stride + j];
    default:
        return 0.0;
    }
}

/* out [v_head_dim] of one query and head. */
static void expect(const struct heads *heads, const struct sequences *sequences, const struct batch *batch, int32_t s,
                   int64_t t, int64_t h, double *out) {
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
        scores[j] = 0.0;
        for (int64_t d = 0; d < dim; d++) {
            scores[j] += (double)q[d] * (double)k[d];
        }
        scores[j] *= (double)batch->args.scaling;
        if (heads->softcap > 0.0f) {
            scores[j] = (double)heads->softcap * tanh(scores[j] / (double)heads->softcap);
        }
        scores[j] += mask_at(&batch->mask, batch->cu_seqlens[s] + t, i, j);
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
        for (int64_t d = 0; d < heads->v_head_dim; d++) {
            out[d] += scores[j] / sum * (double)v[d];
        }
    }
}

static void check_values(const struct heads *heads, const struct sequences *sequences, const struct batch *batch) {
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

/* Of those below: far under the scores, among them, far above them, no sink at all. */
static const float sinks[] = {-200.0f, 0.5f, 2.0f, 200.0f, -INFINITY, 1.0f};

#define SHAPE(a, b, c, d) .heads = (a), .kv_heads = (b), .head_dim = (c), .v_head_dim = (d)

static const struct heads shapes[] = {
    {SHAPE(4, 2, 16, 16)},
    {SHAPE(3, 3, 5, 5)},
    {SHAPE(2, 1, 64, 64)},
    {SHAPE(7, 1, 17, 17)},
    {SHAPE(70, 1, 3, 3)},
    {SHAPE(4, 2, 16, 16), .softcap = 0.7f},
    {SHAPE(6, 3, 8, 8), .sinks = sinks},
    {SHAPE(4, 4, 24, 16)},
    {SHAPE(3, 1, 5, 40), .gap = 7},
    {SHAPE(4, 1, 20, 12), .shared = 1},
    {SHAPE(6, 2, 12, 9), .softcap = 2.0f, .sinks = sinks, .gap = 1, .shared = 1},
    {SHAPE(4, 2, 12, 5), .latents = 1},
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

/* A sequence that ends within a block, one of a single token, an empty one. */
static void test_without_cache(void **state) {
    (void)state;
    const struct graft_mask masks[] = {
        {.struct_size = sizeof masks[0], .kind = GRAFT_MASK_NONE},
        {.struct_size = sizeof masks[0], .kind = GRAFT_MASK_CAUSAL},
        {.struct_size = sizeof masks[0], .kind = GRAFT_MASK_SLIDING, .window = 1},
        {.struct_size = sizeof masks[0], .kind = GRAFT_MASK_SLIDING, .window = 20},
        {.struct_size = sizeof masks[0], .kind = GRAFT_MASK_WINDOW, .left = 0, .right = 0},
        {.struct_size = sizeof masks[0], .kind = GRAFT_MASK_WINDOW, .left = 3, .right = 70},
        {.struct_size = sizeof masks[0], .kind = GRAFT_MASK_WINDOW, .left = 64, .right = GRAFT_MASK_UNLIMITED},
        {.struct_size = sizeof masks[0], .kind = GRAFT_MASK_WINDOW, .left = GRAFT_MASK_UNLIMITED, .right = 2}};
    for (int i = 0; i < SHAPES; i++) {
        struct sequences sequences = sequences_create(&shapes[i], 3);
        sequences.tokens[0] = 150;
        sequences.tokens[1] = 0;
        sequences.tokens[2] = 1;
        for (size_t j = 0; j < sizeof masks / sizeof masks[0]; j++) {
            struct batch *batch = batch_create(&shapes[i], &sequences, masks[j], NULL);
            run(batch);
            check_values(&shapes[i], &sequences, batch);
            batch_destroy(batch);
        }
        sequences_destroy(&sequences);
    }
}

static void round_numbers(float *x, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        x[i] = graft_f32_from_bf16(graft_bf16_from_f32(x[i]));
    }
}

/* A prompt, then steps of one token and of several, sequences of different lengths side by side. */
static void check_with_cache(graft_dtype dtype) {
    static const int64_t steps[][2] = {{5, 260}, {1, 1}, {3, 1}, {0, 1}, {130, 2}, {1, 20}};
    const struct graft_mask masks[] = {
        {.struct_size = sizeof masks[0], .kind = GRAFT_MASK_CAUSAL},
        {.struct_size = sizeof masks[0], .kind = GRAFT_MASK_SLIDING, .window = 150},
        {.struct_size = sizeof masks[0], .kind = GRAFT_MASK_WINDOW, .left = 140, .right = 5}};
    for (int i = 0; i < SHAPES * 3; i++) {
        const struct heads *heads = &shapes[i / 3];
        struct sequences sequences = sequences_create(heads, 2);
        struct graft_cache *cache = graft_cache_create(2, dtype);
        if (dtype == GRAFT_DTYPE_BF16) {
            round_numbers(sequences.k, 2 * MAX_KEYS * heads->kv_heads * heads->head_dim);
            round_numbers(sequences.v, 2 * MAX_KEYS * heads->kv_heads * heads->v_head_dim);
        }
        for (size_t step = 0; step < sizeof steps / sizeof steps[0]; step++) {
            sequences.tokens[0] = steps[step][0];
            sequences.tokens[1] = steps[step][1];
            struct batch *batch = batch_create(heads, &sequences, masks[i % 3], cache);
            run(batch);
            check_values(heads, &sequences, batch);
            batch_destroy(batch);
            sequences.past[0] += sequences.tokens[0];
            sequences.past[1] += sequences.tokens[1];
        }
        graft_cache_destroy(cache);
        sequences_destroy(&sequences);
    }
}

static void test_with_cache(void **state) {
    (void)state;
    check_with_cache(GRAFT_DTYPE_F32);
}

/* What the cache rounds is rounded already; queries and probabilities are where the processor multiplies pairs. */
static void test_with_cache_of_bf16(void **state) {
    (void)state;
    int rounds = graft_cpu_isa() >= GRAFT_ISA_AVX512_BF16 && call.attention == &graft_attention_sdpa;
    tolerance = rounds ? 1e-2f : tolerance;
    check_with_cache(GRAFT_DTYPE_BF16);
    tolerance = 2e-6f;
}

/* Random additions, some of them -inf; the first query sees nothing at all and gets zeros. */
static void test_dense(void **state) {
    (void)state;
    enum { STRIDE = 210 };
    static const int64_t tokens[] = {200, 1};
    for (int i = 0; i < SHAPES * 2; i++) {
        const struct heads *heads = &shapes[i / 2];
        struct sequences sequences = sequences_create(heads, 1);
        sequences.tokens[0] = tokens[i % 2];
        float *bias = numbers_floats(200 * STRIDE);
        for (int64_t j = 0; j < 200 * STRIDE; j++) {
            bias[j] = j < STRIDE || j % 3 == 0 || (j / STRIDE == 7 && j % STRIDE < 150) ? -INFINITY : bias[j];
        }
        struct graft_mask mask = {
            .struct_size = sizeof mask, .kind = GRAFT_MASK_DENSE, .bias = bias, .bias_stride = STRIDE};
        struct batch *batch = batch_create(heads, &sequences, mask, NULL);
        run(batch);
        check_values(heads, &sequences, batch);
        assert_true(batch->output[0] == 0.0f);
        batch_destroy(batch);
        numbers_free(bias, 4);
        sequences_destroy(&sequences);
    }
}

static void test_threads(void **state) {
    (void)state;
    const struct heads heads = {SHAPE(8, 2, 64, 64), .softcap = 1.0f, .sinks = (const float[8]){0}};
    static const int64_t tokens[] = {300, 1};
    for (int i = 0; i < 2; i++) {
        struct sequences sequences = sequences_create(&heads, 2);
        sequences.tokens[0] = sequences.tokens[1] = tokens[i];
        struct graft_mask mask = {.struct_size = sizeof mask, .kind = GRAFT_MASK_CAUSAL};
        struct batch *one = batch_create(&heads, &sequences, mask, NULL);
        struct batch *several = batch_create(&heads, &sequences, mask, NULL);
        memcpy(several->output, one->output, (size_t)(2 * tokens[i] * one->args.output_stride) * sizeof(float));
        graft_threads_set_count(1);
        run(one);
        graft_threads_set_count(3);
        run(several);
        graft_threads_set_count(2);
        assert_memory_equal(one->output, several->output,
                            (size_t)(2 * tokens[i] * one->args.output_stride) * sizeof(float));
        batch_destroy(one);
        batch_destroy(several);
        sequences_destroy(&sequences);
    }
}

/* Eager's weights are the probabilities: rows of what may be seen add up to 1, hidden keys are 0, and they make the
 * output. Another implementation is never asked for them. */
static int take_weights(const struct graft_attention_implementation *self, const struct graft_call *forward_call,
                        const struct graft_attention_input *input, struct graft_error *error) {
    struct graft_attention_input changed = *input;
    struct graft_attention_sequence sequence = *graft_attention_sequence_at(input, 0);
    assert_null(sequence.weights);
    sequence.weights = (float *)(uintptr_t)self->data;
    changed.sequences = &sequence;
    return graft_attention_eager.forward(&graft_attention_eager, forward_call, &changed, error);
}

static void test_weights(void **state) {
    (void)state;
    const struct heads heads = {SHAPE(6, 2, 16, 16), .softcap = 3.0f};
    enum { TOKENS = 70, WINDOW = 9 };
    struct sequences sequences = sequences_create(&heads, 1);
    sequences.tokens[0] = TOKENS;
    struct graft_mask mask = {.struct_size = sizeof mask, .kind = GRAFT_MASK_SLIDING, .window = WINDOW};
    struct batch *batch = batch_create(&heads, &sequences, mask, NULL);
    float *weights = numbers_floats(heads.heads * TOKENS * TOKENS);
    struct graft_attention_implementation taking = graft_attention_eager;
    const struct graft_attention_implementation *before = call.attention;
    taking.forward = take_weights;
    taking.data = weights;
    call.attention = &taking;
    run(batch);
    call.attention = before;
    check_values(&heads, &sequences, batch);
    for (int64_t row = 0; row < heads.heads * TOKENS; row++) {
        double sum = 0.0;
        for (int64_t j = 0; j < TOKENS; j++) {
            int64_t i = row % TOKENS;
            float weight = weights[row * TOKENS + j];
            assert_true(j <= i && j > i - WINDOW ? weight > 0.0f : weight == 0.0f);
            sum += (double)weight;
        }
        assert_true(fabs(sum - 1.0) < 1e-6);
    }
    numbers_free(weights, 4);
    batch_destroy(batch);
    sequences_destroy(&sequences);
}

/* With sinks a query's weights lack what the sink takes. */
static void test_weights_with_sinks(void **state) {
    (void)state;
    const struct heads heads = {SHAPE(2, 1, 4, 4), .sinks = (const float[]){0.25f, -1.0f}};
    struct sequences sequences = sequences_create(&heads, 1);
    sequences.tokens[0] = 1;
    struct graft_mask mask = {.struct_size = sizeof mask, .kind = GRAFT_MASK_CAUSAL};
    struct batch *batch = batch_create(&heads, &sequences, mask, NULL);
    float weights[2];
    struct graft_attention_implementation taking = graft_attention_eager;
    const struct graft_attention_implementation *before = call.attention;
    taking.forward = take_weights;
    taking.data = weights;
    call.attention = &taking;
    run(batch);
    call.attention = before;
    for (int h = 0; h < 2; h++) {
        double score = 0.0;
        for (int d = 0; d < 4; d++) {
            score += (double)sequences.q[h * 4 + d] * (double)sequences.k[d];
        }
        score = exp(score * (double)batch->args.scaling);
        assert_true(fabs((double)weights[h] - score / (score + exp((double)heads.sinks[h]))) < 1e-6);
    }
    batch_destroy(batch);
    sequences_destroy(&sequences);
}

/* Calls an implementation that has these masks and features; returns what it says against that. */
static const char *refusal(const struct batch *batch, uint32_t masks, uint32_t features, struct graft_error *error) {
    struct graft_attention_implementation poor = graft_attention_eager;
    const struct graft_attention_implementation *before = call.attention;
    poor.name = "poor";
    poor.masks = masks;
    poor.features = features;
    call.attention = &poor;
    *error = graft_error_none();
    int status = call.kernels->attention(&call, &batch->args, error);
    call.attention = before;
    assert_int_equal(status, error->message[0] != '\0' ? GRAFT_ERROR_PLUGIN : GRAFT_OK);
    return error->message;
}

/* An implementation without one of the features is run for calls that do without it, and refused for others. */
static void test_refused_features(void **state) {
    (void)state;
    static const struct {
        struct heads heads;
        uint32_t feature;
        const char *name;
    } cases[] = {{{SHAPE(2, 1, 4, 4), .softcap = 1.0f}, GRAFT_ATTENTION_SOFTCAP, "\"softcap\""},
                 {{SHAPE(2, 1, 4, 4), .sinks = sinks}, GRAFT_ATTENTION_SINKS, "\"sinks\""},
                 {{SHAPE(2, 1, 4, 6)}, GRAFT_ATTENTION_V_HEAD_DIM, "\"v_head_dim\""},
                 {{SHAPE(2, 1, 4, 3), .shared = 1}, GRAFT_ATTENTION_V_HEAD_DIM, "\"v_head_dim\""}};
    struct graft_mask mask = {.struct_size = sizeof mask, .kind = GRAFT_MASK_CAUSAL};
    struct graft_error error;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sequences sequences = sequences_create(&cases[i].heads, 1);
        sequences.tokens[0] = 2;
        struct batch *batch = batch_create(&cases[i].heads, &sequences, mask, NULL);
        uint32_t others = GRAFT_ATTENTION_FEATURES & ~cases[i].feature;
        assert_non_null(strstr(refusal(batch, GRAFT_ATTENTION_MASKS, others, &error), cases[i].name));
        assert_string_equal(error.source, "poor");
        assert_string_equal(refusal(batch, GRAFT_ATTENTION_MASKS, cases[i].feature, &error), "");
        check_values(&cases[i].heads, &sequences, batch);
        batch->args.required_features = 8;
        assert_non_null(strstr(refusal(batch, GRAFT_ATTENTION_MASKS, ~0u, &error), "0x8"));
        batch_destroy(batch);
        sequences_destroy(&sequences);
    }
}

/* A mask that an implementation does not obey is refused before it runs, and nothing is kept in the cache. */
static void test_refused_mask(void **state) {
    (void)state;
    const struct heads heads = {SHAPE(4, 2, 8, 8)};
    struct sequences sequences = sequences_create(&heads, 1);
    sequences.tokens[0] = 3;
    struct graft_cache *cache = graft_cache_create(1, GRAFT_DTYPE_F32);
    struct graft_mask mask = {.struct_size = sizeof mask, .kind = GRAFT_MASK_CAUSAL};
    struct batch *batch = batch_create(&heads, &sequences, mask, cache);
    struct graft_error error;
    int64_t held = -1;
    uint32_t masks = GRAFT_ATTENTION_MASK_NONE | GRAFT_ATTENTION_MASK_DENSE;
    assert_non_null(strstr(refusal(batch, masks, GRAFT_ATTENTION_FEATURES, &error), "\"causal\""));
    assert_string_equal(error.source, "poor");
    batch->mask.kind = GRAFT_MASK_WINDOW;
    assert_non_null(
        strstr(refusal(batch, GRAFT_ATTENTION_MASKS & ~GRAFT_ATTENTION_MASK_WINDOW, GRAFT_ATTENTION_FEATURES, &error),
               "\"window\""));
    assert_int_equal(graft_kv_cache_length(cache->kv, 0, &held, NULL), GRAFT_OK);
    assert_int_equal(held, 0);
    batch_destroy(batch);
    graft_cache_destroy(cache);
    sequences_destroy(&sequences);
}

static void test_faults(void **state) {
    (void)state;
    const struct heads heads = {SHAPE(4, 2, 8, 8)};
    struct sequences sequences = sequences_create(&heads, 1);
    sequences.tokens[0] = 3;
    sequences.past[0] = 2; /* of which the cache knows nothing */
    struct graft_cache *cache = graft_cache_create(1, GRAFT_DTYPE_F32);
    struct graft_mask mask = {.struct_size = sizeof mask, .kind = GRAFT_MASK_CAUSAL};
    struct batch *batch = batch_create(&heads, &sequences, mask, cache);
    struct graft_error error = graft_error_none();
    assert_int_equal(call.kernels->attention(&call, &batch->args, &error), GRAFT_ERROR_INTERNAL);
    assert_non_null(strstr(error.message, "holds 0 tokens, but the batch continues at position 2"));
    batch->args.kv_heads = 3;
    assert_int_equal(call.kernels->attention(&call, &batch->args, NULL), GRAFT_ERROR_INTERNAL);
    batch->args.kv_heads = 2;
    static const struct graft_mask bad[] = {
        {.struct_size = sizeof bad[0], .kind = GRAFT_MASK_SLIDING},
        {.struct_size = sizeof bad[0], .kind = GRAFT_MASK_SLIDING, .window = INT64_MAX},
        {.struct_size = sizeof bad[0], .kind = GRAFT_MASK_DENSE},
        {.struct_size = sizeof bad[0], .kind = GRAFT_MASK_WINDOW, .left = -1},
        {.struct_size = sizeof bad[0], .kind = GRAFT_MASK_WINDOW, .right = INT64_MAX},
        {.struct_size = sizeof bad[0], .kind = GRAFT_MASK_WINDOW + 1},
        {.struct_size = sizeof bad[0], .kind = -1},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        error = graft_error_none();
        batch->mask = bad[i];
        assert_int_equal(call.kernels->attention(&call, &batch->args, &error), GRAFT_ERROR_INTERNAL);
        assert_non_null(strstr(error.message, "a mask of kind"));
    }
    batch->mask = mask;
    static const float caps[] = {-1.0f, NAN, INFINITY};
    for (size_t i = 0; i < sizeof caps / sizeof caps[0]; i++) {
        error = graft_error_none();
        batch->args.softcap = caps[i];
        assert_int_equal(call.kernels->attention(&call, &batch->args, &error), GRAFT_ERROR_INTERNAL);
        assert_non_null(strstr(error.message, "softcap"));
    }
    batch->args.softcap = 0.0f;
    const struct graft_attention_latents no_latents = {.struct_size = sizeof no_latents, .expand = expand};
    batch->args.latents = &no_latents;
    assert_int_equal(call.kernels->attention(&call, &batch->args, NULL), GRAFT_ERROR_INTERNAL);
    batch->args.latents = NULL;
    batch->args.v_head_dim = 9; /* which is more than a key has */
    batch->args.v = NULL;
    assert_int_equal(call.kernels->attention(&call, &batch->args, NULL), GRAFT_ERROR_INTERNAL);
    batch_destroy(batch);
    graft_cache_destroy(cache);
    sequences_destroy(&sequences);
}

static void test_without_memory(void **state) {
    (void)state;
    const struct heads heads = {SHAPE(70, 1, 200, 200), .latents = 1};
    struct sequences sequences = sequences_create(&heads, 1);
    sequences.tokens[0] = 200;
    int status = GRAFT_ERROR_INTERNAL;
    for (long n = 1; status != GRAFT_OK; n++) {
        struct graft_cache *cache = graft_cache_create(1, GRAFT_DTYPE_F32);
        struct graft_mask mask = {.struct_size = sizeof mask, .kind = GRAFT_MASK_CAUSAL};
        struct batch *batch = batch_create(&heads, &sequences, mask, cache);
        struct graft_scratch *fresh = graft_scratch_create();
        struct graft_call poor;
        graft_call_init(&poor, GRAFT_PRECISION_AUTO, fresh);
        poor.attention = call.attention;
        void *filler = graft_scratch_alloc(fresh, 1000000);
        assert_non_null(filler);
        graft_alloc_fail_at(n);
        status = poor.kernels->attention(&poor, &batch->args, NULL);
        graft_alloc_fail_at(0);
        assert_true(n < 50 && (status == GRAFT_OK || status == GRAFT_ERROR_INTERNAL));
        graft_scratch_destroy(fresh);
        batch_destroy(batch);
        graft_cache_destroy(cache);
    }
    sequences_destroy(&sequences);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_cache),
        cmocka_unit_test(test_with_cache),
        cmocka_unit_test(test_dense),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_weights),
        cmocka_unit_test(test_weights_with_sinks),
        cmocka_unit_test(test_refused_mask),
        cmocka_unit_test(test_refused_features),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_without_memory),
        cmocka_unit_test(test_with_cache_of_bf16),
    };
    const struct graft_attention_implementation *const implementations[] = {&graft_attention_sdpa,
                                                                            &graft_attention_eager};
    int failures = 0;
    scratch = graft_scratch_create();
    graft_threads_set_count(2);
    graft_call_init(&call, GRAFT_PRECISION_AUTO, scratch);
    for (int isa = GRAFT_ISA_SCALAR; isa <= graft_cpu_best_isa(); isa++) {
        graft_cpu_set_isa(isa);
        /* What differs by instruction set is in the loops; eager's are those of sdpa. */
        for (int i = 0; i < (isa == graft_cpu_best_isa() ? 2 : 1); i++) {
            call.attention = implementations[i];
            print_message("%s, %s\n", graft_cpu_isa_name(isa), implementations[i]->name);
            failures += cmocka_run_group_tests(tests, NULL, NULL);
        }
    }
    graft_scratch_destroy(scratch);
    return failures;
}

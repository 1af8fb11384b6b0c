/* SPDX-License-Identifier: Apache-2.0 */
/* Attention, each of the implementations, against softmax in double: all masks, ragged batches, with and without a
 * cache. */
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
};

/* Whole sequences, of which a batch holds the tokens from `past` to `past + tokens` of each. */
struct sequences {
    int32_t n;
    int64_t past[MAX_SEQUENCES];
    int64_t tokens[MAX_SEQUENCES];
    float *q; /* [n, MAX_KEYS, heads, head_dim] */
    float *k; /* [n, MAX_KEYS, kv_heads, head_dim] */
    float *v; /* [n, MAX_KEYS, kv_heads, head_dim] */
};

static struct graft_scratch *scratch;
static struct graft_call call;

static struct sequences sequences_create(const struct heads *heads, int32_t n) {
    int64_t tokens = (int64_t)n * MAX_KEYS;
    struct sequences sequences = {.n = n,
                                  .q = numbers_floats(tokens * heads->heads * heads->head_dim),
                                  .k = numbers_floats(tokens * heads->kv_heads * heads->head_dim),
                                  .v = numbers_floats(tokens * heads->kv_heads * heads->head_dim)};
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
    int64_t cu_seqlens[MAX_SEQUENCES + 1];
    int32_t slots[MAX_SEQUENCES];
    int64_t *positions;
    float *q;
    float *k;
    float *v;
    float *output;
};

static float *copied(const struct sequences *sequences, const float *from, int64_t row, int64_t stride) {
    int64_t total = sequences->tokens[0] + sequences->tokens[1] + sequences->tokens[2];
    float *out = numbers_alloc(total * stride + 1, 4);
    int64_t done = 0;
    for (int32_t s = 0; s < sequences->n; s++) {
        for (int64_t t = 0; t < sequences->tokens[s]; t++, done++) {
            memcpy(out + done * stride, from + ((s * MAX_KEYS) + sequences->past[s] + t) * row,
                   (size_t)row * sizeof *out);
        }
    }
    return out;
}

static struct batch *batch_create(const struct heads *heads, const struct sequences *sequences, struct graft_mask mask,
                                  struct graft_cache *cache) {
    struct batch *batch = calloc(1, sizeof *batch);
    int64_t q_row = heads->heads * heads->head_dim;
    int64_t kv_row = heads->kv_heads * heads->head_dim;
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
    batch->q = copied(sequences, sequences->q, q_row, q_row + 1);
    batch->k = copied(sequences, sequences->k, kv_row, kv_row + 2);
    batch->v = copied(sequences, sequences->v, kv_row, kv_row + 3);
    batch->output = numbers_floats(total * (q_row + 4));
    batch->args = (struct graft_attention_args){sizeof batch->args,
                                                0,
                                                &batch->batch,
                                                &batch->mask,
                                                heads->heads,
                                                heads->kv_heads,
                                                heads->head_dim,
                                                0.3f,
                                                0,
                                                batch->q,
                                                q_row + 1,
                                                batch->k,
                                                kv_row + 2,
                                                batch->v,
                                                kv_row + 3,
                                                batch->output,
                                                q_row + 4};
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
    case GRAFT_MASK_DENSE:
        return (double)mask->bias[token * mask->bias_stride + j];
    default:
        return 0.0;
    }
}

/* out [head_dim] of one query and head. */
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
        scores[j] = scores[j] * (double)batch->args.scaling + mask_at(&batch->mask, batch->cu_seqlens[s] + t, i, j);
        largest = fmax(largest, scores[j]);
    }
    memset(out, 0, (size_t)dim * sizeof *out);
    for (int64_t j = 0; j < keys && largest > -INFINITY; j++) {
        scores[j] = exp(scores[j] - largest);
        sum += scores[j];
    }
    for (int64_t j = 0; j < keys && largest > -INFINITY; j++) {
        const float *v = sequences->v + ((s * MAX_KEYS + j) * heads->kv_heads + kv_head) * dim;
        for (int64_t d = 0; d < dim; d++) {
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
                for (int64_t d = 0; d < heads->head_dim; d++) {
                    assert_true(numbers_close(found[h * heads->head_dim + d], (float)out[d], 2e-6f, 1e-5f));
                }
            }
        }
    }
}

static const struct heads shapes[] = {{4, 2, 16}, {3, 3, 5}, {2, 1, 64}, {7, 1, 17}, {70, 1, 3}};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

/* A sequence that ends within a block, one of a single token, an empty one. */
static void test_without_cache(void **state) {
    (void)state;
    const struct graft_mask masks[] = {{sizeof masks[0], GRAFT_MASK_NONE, 0, NULL, 0},
                                       {sizeof masks[0], GRAFT_MASK_CAUSAL, 0, NULL, 0},
                                       {sizeof masks[0], GRAFT_MASK_SLIDING, 1, NULL, 0},
                                       {sizeof masks[0], GRAFT_MASK_SLIDING, 20, NULL, 0}};
    for (int i = 0; i < SHAPES; i++) {
        struct sequences sequences = sequences_create(&shapes[i], 3);
        sequences.tokens[0] = 150;
        sequences.tokens[1] = 0;
        sequences.tokens[2] = 1;
        for (int j = 0; j < 4; j++) {
            struct batch *batch = batch_create(&shapes[i], &sequences, masks[j], NULL);
            run(batch);
            check_values(&shapes[i], &sequences, batch);
            batch_destroy(batch);
        }
        sequences_destroy(&sequences);
    }
}

/* A prompt, then steps of one token and of several, sequences of different lengths side by side. */
static void test_with_cache(void **state) {
    (void)state;
    static const int64_t steps[][2] = {{5, 260}, {1, 1}, {3, 1}, {0, 1}, {130, 2}, {1, 20}};
    const struct graft_mask masks[] = {{sizeof masks[0], GRAFT_MASK_CAUSAL, 0, NULL, 0},
                                       {sizeof masks[0], GRAFT_MASK_SLIDING, 150, NULL, 0}};
    for (int i = 0; i < SHAPES * 2; i++) {
        const struct heads *heads = &shapes[i / 2];
        struct sequences sequences = sequences_create(heads, 2);
        struct graft_cache *cache = graft_cache_create(2);
        for (size_t step = 0; step < sizeof steps / sizeof steps[0]; step++) {
            sequences.tokens[0] = steps[step][0];
            sequences.tokens[1] = steps[step][1];
            struct batch *batch = batch_create(heads, &sequences, masks[i % 2], cache);
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
        struct graft_mask mask = {sizeof mask, GRAFT_MASK_DENSE, 0, bias, STRIDE};
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
    const struct heads heads = {8, 2, 64};
    static const int64_t tokens[] = {300, 1};
    for (int i = 0; i < 2; i++) {
        struct sequences sequences = sequences_create(&heads, 2);
        sequences.tokens[0] = sequences.tokens[1] = tokens[i];
        struct graft_mask mask = {sizeof mask, GRAFT_MASK_CAUSAL, 0, NULL, 0};
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
    const struct heads heads = {6, 2, 16};
    enum { TOKENS = 70, WINDOW = 9 };
    struct sequences sequences = sequences_create(&heads, 1);
    sequences.tokens[0] = TOKENS;
    struct graft_mask mask = {sizeof mask, GRAFT_MASK_SLIDING, WINDOW, NULL, 0};
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

/* A mask that an implementation does not obey is refused before it runs, and nothing is kept in the cache. */
static void test_refused_mask(void **state) {
    (void)state;
    const struct heads heads = {4, 2, 8};
    struct sequences sequences = sequences_create(&heads, 1);
    sequences.tokens[0] = 3;
    struct graft_cache *cache = graft_cache_create(1);
    struct graft_mask mask = {sizeof mask, GRAFT_MASK_CAUSAL, 0, NULL, 0};
    struct batch *batch = batch_create(&heads, &sequences, mask, cache);
    struct graft_attention_implementation blind = graft_attention_eager;
    const struct graft_attention_implementation *before = call.attention;
    struct graft_error error = graft_error_none();
    int64_t held = -1;
    blind.name = "blind";
    blind.masks = GRAFT_ATTENTION_MASK_NONE | GRAFT_ATTENTION_MASK_DENSE;
    call.attention = &blind;
    assert_int_equal(call.kernels->attention(&call, &batch->args, &error), GRAFT_ERROR_PLUGIN);
    call.attention = before;
    assert_string_equal(error.source, "blind");
    assert_non_null(strstr(error.message, "\"causal\""));
    assert_int_equal(graft_kv_cache_length(cache->kv, 0, &held, NULL), GRAFT_OK);
    assert_int_equal(held, 0);
    batch_destroy(batch);
    graft_cache_destroy(cache);
    sequences_destroy(&sequences);
}

static void test_faults(void **state) {
    (void)state;
    const struct heads heads = {4, 2, 8};
    struct sequences sequences = sequences_create(&heads, 1);
    sequences.tokens[0] = 3;
    sequences.past[0] = 2; /* of which the cache knows nothing */
    struct graft_cache *cache = graft_cache_create(1);
    struct graft_mask mask = {sizeof mask, GRAFT_MASK_CAUSAL, 0, NULL, 0};
    struct batch *batch = batch_create(&heads, &sequences, mask, cache);
    struct graft_error error = graft_error_none();
    assert_int_equal(call.kernels->attention(&call, &batch->args, &error), GRAFT_ERROR_INTERNAL);
    assert_non_null(strstr(error.message, "holds 0 tokens, but the batch continues at position 2"));
    batch->args.kv_heads = 3;
    assert_int_equal(call.kernels->attention(&call, &batch->args, NULL), GRAFT_ERROR_INTERNAL);
    batch->args.kv_heads = 2;
    batch->mask.kind = GRAFT_MASK_SLIDING;
    assert_int_equal(call.kernels->attention(&call, &batch->args, NULL), GRAFT_ERROR_INTERNAL);
    batch_destroy(batch);
    graft_cache_destroy(cache);
    sequences_destroy(&sequences);
}

static void test_without_memory(void **state) {
    (void)state;
    const struct heads heads = {70, 1, 200};
    struct sequences sequences = sequences_create(&heads, 1);
    sequences.tokens[0] = 200;
    int status = GRAFT_ERROR_INTERNAL;
    for (long n = 1; status != GRAFT_OK; n++) {
        struct graft_cache *cache = graft_cache_create(1);
        struct graft_mask mask = {sizeof mask, GRAFT_MASK_CAUSAL, 0, NULL, 0};
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
        cmocka_unit_test(test_without_cache), cmocka_unit_test(test_with_cache),
        cmocka_unit_test(test_dense),         cmocka_unit_test(test_threads),
        cmocka_unit_test(test_weights),       cmocka_unit_test(test_refused_mask),
        cmocka_unit_test(test_faults),        cmocka_unit_test(test_without_memory),
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

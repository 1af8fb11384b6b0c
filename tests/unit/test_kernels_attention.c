/* SPDX-License-Identifier: Apache-2.0 */
/* Compares each attention implementation with softmax in double: all masks and features, ragged batches, with and
 * without a cache. */
#include "attention_fixture.h"

/* Sinks of the heads in `shapes`: far below the scores, among them, far above them, and -inf, which means no sink. */
static const float sinks[] = {-200.0f, 0.5f, 2.0f, 200.0f, -INFINITY, 1.0f};

/* Slopes of ALiBi. They are powers of two, so that adding the bias costs no precision. */
static const float slopes[] = {0.25f, 0.0625f, 0.015625f, -0.03125f, 0.0f, 0.00390625f};

/* Biases of each head by the distance of a key from the query: distances -2 to 2 in `near`, -70 to 70 in `far`. */
static const float near[][5] = {{1.0f, 0.5f, -2.0f, 0.25f, 3.0f}, {0.0f, 1.0f, 2.0f, 3.0f, -4.0f},
                                {-1.0f, 0.0f, 0.0f, 8.0f, 0.0f},  {2.0f, -2.0f, 0.5f, 0.5f, 1.0f},
                                {0.0f, 0.0f, 4.0f, 0.0f, 0.0f},   {-0.5f, 0.25f, 0.0f, -1.0f, 1.0f}};
static const float far[3][141] = {{[0] = 2.0f, [60] = -3.0f, [70] = 1.0f, [71] = 4.0f, [140] = -1.0f},
                                  {[1] = 1.0f, [139] = 2.0f},
                                  {[35] = 0.5f, [69] = 2.0f, [100] = 3.0f}};

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
    {SHAPE(6, 2, 8, 8), .alibi = slopes},
    {SHAPE(3, 3, 16, 16), .alibi = slopes, .alibi_rounded = 1, .softcap = 3.0f, .sinks = sinks},
    {SHAPE(6, 2, 8, 8), .relative = &near[0][0], .reach = 2},
    {SHAPE(3, 1, 16, 12), .relative = &far[0][0], .reach = 70, .alibi = slopes, .softcap = 2.0f},
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
        {.struct_size = sizeof masks[0], .kind = GRAFT_MASK_CHUNKED, .window = 1},
        {.struct_size = sizeof masks[0], .kind = GRAFT_MASK_CHUNKED, .window = 7},
        {.struct_size = sizeof masks[0], .kind = GRAFT_MASK_CHUNKED, .window = 100},
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
        {.struct_size = sizeof masks[0], .kind = GRAFT_MASK_CHUNKED, .window = 90},
        {.struct_size = sizeof masks[0], .kind = GRAFT_MASK_WINDOW, .left = 140, .right = 5}};
    for (int i = 0; i < SHAPES * 4; i++) {
        const struct heads *heads = &shapes[i / 4];
        struct sequences sequences = sequences_create(heads, 2);
        struct graft_cache *cache = graft_cache_create(2, dtype);
        if (dtype == GRAFT_DTYPE_BF16) {
            round_numbers(sequences.k, 2 * MAX_KEYS * heads->kv_heads * heads->head_dim);
            round_numbers(sequences.v, 2 * MAX_KEYS * heads->kv_heads * heads->v_head_dim);
        }
        for (size_t step = 0; step < sizeof steps / sizeof steps[0]; step++) {
            sequences.tokens[0] = steps[step][0];
            sequences.tokens[1] = steps[step][1];
            struct batch *batch = batch_create(heads, &sequences, masks[i % 4], cache);
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

/* Numbers that the cache rounds are rounded already; queries and probabilities are rounded only if the processor
 * multiplies pairs. */
static void test_with_cache_of_bf16(void **state) {
    (void)state;
    int rounds = graft_cpu_isa() >= GRAFT_ISA_AVX512_BF16 && call.attention == &graft_attention_sdpa;
    tolerance = rounds ? 1e-2f : tolerance;
    check_with_cache(GRAFT_DTYPE_BF16);
    tolerance = 2e-6f;
}

/* Random additional scores, some of them -inf; the first query sees no key and gets zeros. */
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

/* The expected output of query `t` of sequence `s` over all keys of its source, which begins at row `first` of k and
 * v. */
static void check_source(const struct heads *heads, const struct batch *batch, int64_t t, int64_t source,
                         const float *k, const float *v) {
    const int64_t dim = heads->head_dim, group = heads->heads / heads->kv_heads;
    for (int64_t h = 0; h < heads->heads; h++) {
        double out[64] = {0}, sum = 0.0;
        for (int64_t j = 0; j < source; j++) {
            const int64_t row = (j * heads->kv_heads + h / group) * dim;
            double score = 0.0;
            for (int64_t d = 0; d < dim; d++) {
                score += (double)batch->q[t * batch->args.q_stride + h * dim + d] * (double)k[row + d];
            }
            const double weight = exp(score * (double)batch->args.scaling);
            sum += weight;
            for (int64_t d = 0; d < dim; d++) {
                out[d] += weight * (double)v[row + d];
            }
        }
        for (int64_t d = 0; d < dim; d++) {
            assert_true(numbers_close(batch->output[t * batch->args.output_stride + h * dim + d], (float)(out[d] / sum),
                                      tolerance, 1e-5f));
        }
    }
}

/* Cross attention: keys and values of a source text are passed once, kept in the cache and read in later forwards, also
 * after the sequence is forked and rewound. Without a cache they are passed with the only forward. */
static void test_sources(void **state) {
    (void)state;
    enum { LONG = 200, SHORT = 3 };
    static const int64_t steps[][2] = {{2, 1}, {1, 1}, {0, 30}, {5, 1}};
    static const int64_t ends[] = {0, LONG, LONG + SHORT}, lengths[] = {LONG, SHORT};
    const struct heads heads = {SHAPE(4, 2, 16, 16)};
    const int64_t width = heads.kv_heads * heads.head_dim;
    const struct graft_mask mask = {.struct_size = sizeof mask, .kind = GRAFT_MASK_NONE};
    float *k = numbers_floats((LONG + SHORT) * width), *v = numbers_floats((LONG + SHORT) * width);
    struct graft_cache *cache = graft_cache_create(3, GRAFT_DTYPE_F32);
    struct sequences sequences = sequences_create(&heads, 2);
    for (size_t step = 0; step <= sizeof steps / sizeof steps[0]; step++) {
        const int without_cache = step == sizeof steps / sizeof steps[0];
        sequences.tokens[0] = without_cache ? 20 : steps[step][0];
        sequences.tokens[1] = without_cache ? 1 : steps[step][1];
        struct batch *batch = batch_create(&heads, &sequences, mask, without_cache ? NULL : cache);
        batch->args.cross = 1;
        batch->args.layer = 1;
        batch->args.k = k;
        batch->args.v = v;
        batch->args.k_stride = batch->args.v_stride = width;
        if (step == 0 || without_cache) {
            batch->batch.source_cu_seqlens = ends;
        }
        if (step == 3) { /* the second is in a slot of its own now: a copy that was cut */
            int64_t reached;
            assert_int_equal(graft_cache_fork(cache, 1, 2, NULL), GRAFT_OK);
            assert_int_equal(graft_cache_rewind(cache, 2, 1, &reached, NULL), GRAFT_OK);
            batch->slots[1] = 2;
        }
        run(batch);
        for (int32_t s = 0; s < 2; s++) {
            for (int64_t t = batch->cu_seqlens[s]; t < batch->cu_seqlens[s + 1]; t++) {
                check_source(&heads, batch, t, lengths[s], k + ends[s] * width, v + ends[s] * width);
            }
        }
        batch_destroy(batch);
    }
    sequences_destroy(&sequences);
    graft_cache_destroy(cache);
    numbers_free(k, 4);
    numbers_free(v, 4);
}

/* An empty slot has no source, and a step that needs one fails. */
static void test_no_source(void **state) {
    (void)state;
    const struct heads heads = {SHAPE(2, 1, 4, 4)};
    const struct graft_mask mask = {.struct_size = sizeof mask, .kind = GRAFT_MASK_NONE};
    struct graft_error error = graft_error_none();
    struct graft_cache *cache = graft_cache_create(1, GRAFT_DTYPE_F32);
    struct sequences sequences = sequences_create(&heads, 1);
    sequences.tokens[0] = 1;
    struct batch *batch = batch_create(&heads, &sequences, mask, cache);
    batch->args.cross = 1;
    assert_int_equal(call.kernels->attention(&call, &batch->args, &error), GRAFT_ERROR_INTERNAL);
    assert_non_null(strstr(error.message, "no source"));
    batch_destroy(batch);
    sequences_destroy(&sequences);
    graft_cache_destroy(cache);
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

/* Eager's weights are probabilities: rows over visible keys add up to 1, hidden keys are 0, and the output is their sum
 * of values. Other implementations are never asked for weights. */
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

/* With sinks the weights of a query lack the sink's share. */
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_cache),
        cmocka_unit_test(test_with_cache),
        cmocka_unit_test(test_dense),
        cmocka_unit_test(test_sources),
        cmocka_unit_test(test_no_source),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_weights),
        cmocka_unit_test(test_weights_with_sinks),
        cmocka_unit_test(test_with_cache_of_bf16),
    };
    int failures = 0;
    for (int turn = 0; attention_turn(turn); turn++) {
        failures += cmocka_run_group_tests(tests, NULL, NULL);
    }
    return failures;
}

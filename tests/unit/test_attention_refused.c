/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that attention refuses: masks and features that an implementation does not support, invalid calls, and failed
 * allocations. */
#include "attention_fixture.h"

static const float sinks[] = {0.5f, 2.0f};
static const float biases[2][3] = {{1.0f, 0.0f, 2.0f}, {0.5f, 3.0f, 1.0f}};

/* Calls an implementation that supports these masks and features; returns its error message. */
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

/* An implementation without a feature runs calls that do not need it, and refuses others. */
static void test_refused_features(void **state) {
    (void)state;
    static const struct {
        struct heads heads;
        uint32_t feature;
        const char *name;
    } cases[] = {
        {{SHAPE(2, 1, 4, 4), .softcap = 1.0f}, GRAFT_ATTENTION_SOFTCAP, "\"softcap\""},
        {{SHAPE(2, 1, 4, 4), .sinks = sinks}, GRAFT_ATTENTION_SINKS, "\"sinks\""},
        {{SHAPE(2, 1, 4, 6)}, GRAFT_ATTENTION_V_HEAD_DIM, "\"v_head_dim\""},
        {{SHAPE(2, 1, 4, 4), .alibi = sinks}, GRAFT_ATTENTION_ALIBI, "\"ALiBi\""},
        {{SHAPE(2, 1, 4, 4), .relative = biases[0], .reach = 1}, GRAFT_ATTENTION_RELATIVE, "\"biases by distance\""},
        {{SHAPE(2, 1, 4, 3), .shared = 1}, GRAFT_ATTENTION_V_HEAD_DIM, "\"v_head_dim\""}};
    struct graft_mask mask = {.struct_size = sizeof mask, .kind = GRAFT_MASK_CAUSAL};
    struct graft_error error;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sequences sequences = sequences_create(&cases[i].heads, 1);
        sequences.tokens[0] = 2;
        struct batch *batch = batch_create(&cases[i].heads, &sequences, mask, NULL);
        uint32_t others = GRAFT_ATTENTION_ALL_FEATURES & ~cases[i].feature;
        assert_non_null(strstr(refusal(batch, GRAFT_ATTENTION_ALL_MASKS, others, &error), cases[i].name));
        assert_string_equal(error.source, "poor");
        assert_string_equal(refusal(batch, GRAFT_ATTENTION_ALL_MASKS, cases[i].feature, &error), "");
        check_values(&cases[i].heads, &sequences, batch);
        batch->args.required_features = 8;
        assert_non_null(strstr(refusal(batch, GRAFT_ATTENTION_ALL_MASKS, ~0u, &error), "0x8"));
        batch_destroy(batch);
        sequences_destroy(&sequences);
    }
}

/* A mask that an implementation does not support is refused before it runs, and the cache stays unchanged. */
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
    assert_non_null(strstr(refusal(batch, masks, GRAFT_ATTENTION_ALL_FEATURES, &error), "\"causal\""));
    assert_string_equal(error.source, "poor");
    batch->mask.kind = GRAFT_MASK_WINDOW;
    assert_non_null(strstr(
        refusal(batch, GRAFT_ATTENTION_ALL_MASKS & ~GRAFT_ATTENTION_MASK_WINDOW, GRAFT_ATTENTION_ALL_FEATURES, &error),
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
    sequences.past[0] = 2; /* a slot unknown to the cache */
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
        {.struct_size = sizeof bad[0], .kind = GRAFT_MASK_CHUNKED},
        {.struct_size = sizeof bad[0], .kind = GRAFT_MASK_CHUNKED + 1},
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
    batch->args.v_head_dim = 9; /* more than the width of a key */
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
        cmocka_unit_test(test_refused_mask),
        cmocka_unit_test(test_refused_features),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_without_memory),
    };
    int failures = 0;
    for (int turn = 0; attention_turn(turn); turn++) {
        failures += cmocka_run_group_tests(tests, NULL, NULL);
    }
    return failures;
}

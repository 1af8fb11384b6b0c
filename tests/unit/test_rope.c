/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the frequencies of every rope type with transformers 5.23 (modeling_rope_utils, f32), and tests configs that
 * are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "config/config.h"
#include "kernels/kernels.h"
#include "numbers.h"
#include "plugin/host_services.h"
#include "rope/service.h"

enum { HEAD_DIM = 16, MAX_POSITIONS = 64 };

static const struct graft_rope_service *service;
static struct graft_error error;

static const struct graft_rope_info usual = {
    .struct_size = sizeof usual, .head_dim = HEAD_DIM, .max_position_embeddings = MAX_POSITIONS, .rope_theta = 10000.0};

/* The frequencies for a config of that text; NULL with `error`. */
static struct graft_rope *rope_of(const char *text, const struct graft_rope_info *info) {
    graft_json *document = NULL;
    struct graft_rope *rope = NULL;
    error = graft_error_none();
    assert_int_equal(graft_json_parse(text, strlen(text), "config.json", &document, NULL), GRAFT_OK);
    const struct graft_config config = graft_config_view(document, "config.json");
    int status = service->create(&config, info, &rope, &error);
    assert_int_equal(status == GRAFT_OK, rope != NULL);
    graft_json_free(document);
    return rope;
}

static void expect(const struct graft_rope *rope, int64_t length, float factor, int64_t width, const float *expected) {
    float found[HEAD_DIM / 2];
    assert_int_equal(service->width(rope), width);
    assert_true(numbers_close(service->frequencies(rope, length, found), factor, 0.0f, 1e-6f));
    for (int64_t i = 0; i < width / 2; i++) {
        if (!numbers_close(found[i], expected[i], 0.0f, 1e-6f)) {
            fail_msg("frequency %d: %.9g, expected %.9g", (int)i, (double)found[i], (double)expected[i]);
        }
    }
}

static const struct {
    const char *parameters;
    int64_t length;
    float factor;
    int64_t width;
    float inv_freq[HEAD_DIM / 2];
} goldens[] = {
    {"{\"rope_type\": \"linear\", \"factor\": 2.5, \"rope_theta\": 10000.0}",
     0,
     1.0f,
     16,
     {0.400000006f, 0.1264911f, 0.0399999991f, 0.0126491114f, 0.00399999972f, 0.00126491114f, 0.000400000019f,
      0.000126491112f}},
    {"{\"rope_type\": \"linear\", \"factor\": 2.5, \"rope_theta\": 10000.0, \"partial_rotary_factor\": 0.5}",
     0,
     1.0f,
     8,
     {0.400000006f, 0.0399999991f, 0.00399999972f, 0.000400000019f}},
    {"{\"rope_type\": \"dynamic\", \"factor\": 4.0, \"rope_theta\": 10000.0}",
     64,
     1.0f,
     16,
     {1.0f, 0.316227764f, 0.100000001f, 0.0316227786f, 0.00999999978f, 0.00316227786f, 0.00100000005f,
      0.000316227786f}},
    {"{\"rope_type\": \"dynamic\", \"factor\": 4.0, \"rope_theta\": 10000.0}",
     100,
     1.0f,
     16,
     {1.0f, 0.267223001f, 0.0714081228f, 0.0190818924f, 0.00509912008f, 0.00136260199f, 0.000364118576f,
      9.730085e-05f}},
    {"{\"rope_type\": \"llama3\", \"factor\": 8.0, \"low_freq_factor\": 1.0, \"high_freq_factor\": 4.0, "
     "\"original_max_position_embeddings\": 32, \"rope_theta\": 10000.0}",
     0,
     1.0f,
     16,
     {1.0f, 0.0958399773f, 0.0125000002f, 0.00395284733f, 0.00124999997f, 0.000395284733f, 0.000125000006f,
      3.95284733e-05f}},
    {"{\"rope_type\": \"yarn\", \"factor\": 4.0, \"original_max_position_embeddings\": 16, \"rope_theta\": 10000.0, "
     "\"beta_fast\": 4.0, \"beta_slow\": 0.25}",
     0,
     1.13862943649292f,
     16,
     {1.0f, 0.237170815f, 0.049999997f, 0.00790569466f, 0.00249999994f, 0.000790569466f, 0.000250000012f,
      7.90569466e-05f}},
    {"{\"rope_type\": \"yarn\", \"factor\": 4.0, \"original_max_position_embeddings\": 16, \"rope_theta\": 10000.0, "
     "\"beta_fast\": 4.0, \"beta_slow\": 0.25, \"truncate\": false}",
     0,
     1.13862943649292f,
     16,
     {1.0f, 0.198583528f, 0.0255952496f, 0.00790569466f, 0.00249999994f, 0.000790569466f, 0.000250000012f,
      7.90569466e-05f}},
    {"{\"rope_type\": \"yarn\", \"factor\": 4.0, \"original_max_position_embeddings\": 16, \"rope_theta\": 10000.0, "
     "\"mscale\": 0.7, \"mscale_all_dim\": 1.3}",
     0,
     0.9295234680175781f,
     16,
     {1.0f, 0.079056941f, 0.0250000004f, 0.00790569466f, 0.00249999994f, 0.000790569466f, 0.000250000012f,
      7.90569466e-05f}},
    {"{\"rope_type\": \"yarn\", \"factor\": 4.0, \"original_max_position_embeddings\": 16, \"rope_theta\": 150000.0, "
     "\"beta_fast\": 4.0, \"truncate\": false, \"partial_rotary_factor\": 0.5}",
     0,
     1.13862943649292f,
     8,
     {1.0f, 0.0127033181f, 0.000645497232f, 3.27998277e-05f}},
    {"{\"rope_type\": \"longrope\", \"original_max_position_embeddings\": 16, \"rope_theta\": 10000.0, "
     "\"short_factor\": [1.0, 1.1, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0], \"long_factor\": [1.0, 1.5, 3.0, 6.0, 12.0, 20.0, "
     "30.0, 32.0]}",
     16,
     1.2247449159622192f,
     16,
     {1.0f, 0.287479758f, 0.0799999982f, 0.0210818499f, 0.00499999989f, 0.00126491114f, 0.00033333333f,
      7.90569466e-05f}},
    {"{\"rope_type\": \"longrope\", \"original_max_position_embeddings\": 16, \"rope_theta\": 10000.0, "
     "\"short_factor\": [1.0, 1.1, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0], \"long_factor\": [1.0, 1.5, 3.0, 6.0, 12.0, 20.0, "
     "30.0, 32.0]}",
     17,
     1.2247449159622192f,
     16,
     {1.0f, 0.210818499f, 0.0333333351f, 0.00527046248f, 0.000833333354f, 0.000158113893f, 3.33333337e-05f,
      9.88211832e-06f}},
    {"{\"rope_type\": \"longrope\", \"original_max_position_embeddings\": 16, \"rope_theta\": 10000.0, "
     "\"short_factor\": [1.0, 1.1, 1.25, 1.5, 2.0, 2.5], \"long_factor\": [1.0, 1.5, 3.0, 6.0, 12.0, 20.0], "
     "\"factor\": 2.0, \"partial_rotary_factor\": 0.75}",
     17,
     1.1180340051651f,
     12,
     {1.0f, 0.14362897f, 0.0154719604f, 0.00166666671f, 0.00017953619f, 2.32079474e-05f}},
    {"{\"rope_type\": \"longrope\", \"original_max_position_embeddings\": 16, \"rope_theta\": 10000.0, "
     "\"short_factor\": [1.0, 1.1, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0], \"long_factor\": [1.0, 1.5, 3.0, 6.0, 12.0, 20.0, "
     "30.0, 32.0], \"attention_factor\": 1.5}",
     1,
     1.5f,
     16,
     {1.0f, 0.287479758f, 0.0799999982f, 0.0210818499f, 0.00499999989f, 0.00126491114f, 0.00033333333f,
      7.90569466e-05f}},
    {"{\"rope_type\": \"proportional\", \"rope_theta\": 1000000.0, \"partial_rotary_factor\": 0.25}",
     0,
     1.0f,
     16,
     {1.0f, 0.177827939f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f}},
    {"{\"rope_type\": \"proportional\", \"rope_theta\": 1000000.0, \"factor\": 8.0, \"partial_rotary_factor\": 0.7}",
     0,
     1.0f,
     16,
     {0.125f, 0.0222284924f, 0.00395284733f, 0.000702926656f, 0.000125000006f, 0.0f, 0.0f, 0.0f}},
};

/* Each case as rope_parameters, as the older rope_scaling with base and share beside it, and as the parameters of a
 * layer type. */
static void test_goldens(void **state) {
    static const char *const texts[] = {"{\"rope_parameters\": %s}", "{\"rope_theta\": 7, \"rope_scaling\": %s}",
                                        "{\"rope_theta\": 7, \"rope_parameters\": {\"some_attention\": %s}}"};
    char text[1024];
    (void)state;
    for (size_t i = 0; i < sizeof goldens / sizeof goldens[0]; i++) {
        for (int k = 0; k < 3; k++) {
            struct graft_rope_info info = usual;
            info.object = k == 2 ? "rope_parameters.some_attention" : NULL;
            (void)snprintf(text, sizeof text, texts[k], goldens[i].parameters);
            struct graft_rope *rope = rope_of(text, &info);
            if (rope == NULL) {
                fail_msg("%s: %s", text, error.message);
            }
            expect(rope, goldens[i].length, goldens[i].factor, goldens[i].width, goldens[i].inv_freq);
            service->destroy(rope);
        }
    }
}

/* Without the object: defaults, fields of the config itself, and values from the class. */
static void test_plain(void **state) {
    static const float base_16[] = {1.0f, 0.25f, 0.0625f, 0.015625f};
    struct graft_rope_info info = usual;
    (void)state;
    info.rope_theta = 256.0;
    info.partial_rotary_factor = 0.5;
    struct graft_rope *rope = rope_of("{}", &info);
    expect(rope, 0, 1.0f, 8, base_16);
    service->destroy(rope);
    rope = rope_of("{\"rope_theta\": 256, \"partial_rotary_factor\": 0.5, \"rope_scaling\": {}}", &usual);
    expect(rope, 1000, 1.0f, 8, base_16);
    service->destroy(rope);
    info.object = "rope_parameters.sliding_attention"; /* which is not there: nothing else counts */
    rope = rope_of("{\"rope_theta\": 3, \"partial_rotary_factor\": 1, \"rope_scaling\": {\"rope_theta\": 4}}", &info);
    expect(rope, 0, 1.0f, 8, base_16);
    service->destroy(rope);
}

/* Whole heads: without a type, the share is ignored. */
static void test_whole_heads(void **state) {
    static const char *const parts[] = {"0.5", "1.5", "0.2", "0", "1", "null"};
    struct graft_rope_info info = usual;
    char text[256];
    (void)state;
    info.whole_heads = 1;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        static const char *const places[] = {"{\"partial_rotary_factor\": %s}",
                                             "{\"rope_parameters\": {\"partial_rotary_factor\": %s}}"};
        for (size_t k = 0; k < sizeof places / sizeof places[0]; k++) {
            (void)snprintf(text, sizeof text, places[k], parts[i]);
            struct graft_rope *rope = rope_of(text, &info);
            assert_non_null(rope);
            assert_int_equal(service->width(rope), HEAD_DIM);
            service->destroy(rope);
        }
    }
    struct graft_rope *rope =
        rope_of("{\"partial_rotary_factor\": 0.5, \"rope_scaling\": {\"type\": \"linear\", \"factor\": 2}}", &info);
    assert_int_equal(service->width(rope), HEAD_DIM / 2);
    service->destroy(rope);
    info.struct_size = offsetof(struct graft_rope_info, whole_heads); /* of a plugin that was built before */
    rope = rope_of("{\"partial_rotary_factor\": 0.5}", &info);
    assert_int_equal(service->width(rope), HEAD_DIM / 2);
    service->destroy(rope);
}

/* Two magnitudes by length, and the short factors for all lengths. */
static void test_mscales(void **state) {
    static const char text[] =
        "{\"rope_scaling\": {\"rope_type\": \"longrope\", \"short_factor\": [1, 1, 1, 1, 2, 2, 2, 2], "
        "\"long_factor\": [4, 4, 4, 4, 4, 4, 4, 4], \"short_mscale\": 1.1, \"long_mscale\": 1.3, "
        "\"original_max_position_embeddings\": 64}}";
    struct graft_rope_info info = usual;
    float frequencies[HEAD_DIM / 2], longer[HEAD_DIM / 2];
    (void)state;
    info.takes_mscales = 1;
    struct graft_rope *rope = rope_of(text, &info);
    assert_non_null(rope);
    assert_true(numbers_close(service->frequencies(rope, 64, frequencies), 1.1f, 0.0f, 1e-6f));
    assert_true(numbers_close(service->frequencies(rope, 65, longer), 1.3f, 0.0f, 1e-6f));
    assert_memory_equal(frequencies, longer, sizeof longer);
    service->destroy(rope);
    assert_null(rope_of("{\"rope_scaling\": {\"rope_type\": \"linear\", \"factor\": 2.0}}", &info));
    assert_non_null(strstr(error.message, "rope_scaling.short_mscale: "));
}

/* An odd number of rotated numbers has as many frequencies as the next even one. */
static void test_odd_part(void **state) {
    struct graft_rope_info info = usual;
    float frequencies[HEAD_DIM / 2];
    (void)state;
    struct graft_rope *rope = rope_of("{\"partial_rotary_factor\": 0.34}", &info);
    assert_non_null(rope);
    assert_int_equal(service->width(rope), 6);
    assert_true(numbers_close(service->frequencies(rope, 0, frequencies), 1.0f, 0.0f, 1e-6f));
    assert_true(numbers_close(frequencies[1], powf((float)info.rope_theta, -2.0f / 5.0f), 0.0f, 1e-6f));
    assert_true(numbers_close(frequencies[2], powf((float)info.rope_theta, -4.0f / 5.0f), 0.0f, 1e-6f));
    service->destroy(rope);
}

static void test_refused(void **state) {
    static const struct {
        const char *text;
        const char *says;
    } cases[] = {
        {"{\"rope_scaling\": 3}", "rope_scaling: expected an object"},
        {"{\"rope_scaling\": {\"rope_type\": \"spiral\"}}", "\"spiral\" is not supported"},
        {"{\"rope_parameters\": {\"full_attention\": {}}}", "rope_parameters.full_attention: parameters for one type"},
        {"{\"partial_rotary_factor\": 1.5}", "partial_rotary_factor: expected at most 1"},
        {"{\"partial_rotary_factor\": 0.05}", "partial_rotary_factor: expected at most 1, and a part of a head"},
        {"{\"partial_rotary_factor\": \"x\"}", "partial_rotary_factor: expected a number"},
        {"{\"rope_scaling\": {\"type\": \"linear\"}}", "rope_scaling.factor: missing"},
        {"{\"rope_scaling\": {\"type\": \"longrope\", \"short_factor\": [1, 2]}}",
         "rope_scaling.short_factor: expected an array of 8 numbers"},
        {"{\"rope_scaling\": {\"type\": \"longrope\", \"short_factor\": [1, 2, 3, 4, 5, 6, 7, 0]}}",
         "rope_scaling.short_factor.7: expected more than 0"},
        {"{\"rope_scaling\": {\"type\": \"longrope\", \"short_factor\": [1, 2, 3, 4, 5, 6, 7, 8]}}",
         "rope_scaling.long_factor: expected an array"},
        {"{\"original_max_position_embeddings\": 1, \"rope_scaling\": {\"type\": \"longrope\"}}",
         "original_max_position_embeddings: expected more than 1"},
    };
    struct graft_rope_info info = usual;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_null(rope_of(cases[i].text, &usual));
        assert_int_equal(error.code, GRAFT_ERROR_MODEL);
        assert_string_equal(error.source, "config.json");
        if (strstr(error.message, cases[i].says) == NULL) {
            fail_msg("expected \"%s\" in \"%s\"", cases[i].says, error.message);
        }
    }
    info.head_dim = 1 << 20;
    assert_null(rope_of("{}", &info));
    assert_int_equal(error.code, GRAFT_ERROR_MODEL);
    info.head_dim = 3;
    assert_null(rope_of("{}", &info));
    info = usual;
    char path[1000] = {0};
    info.object = memset(path, 'a', sizeof path - 1);
    assert_null(rope_of("{}", &info));
    assert_non_null(strstr(error.message, "longer than"));
}

static void test_without_memory(void **state) {
    const char *text = goldens[9].parameters; /* longrope */
    graft_json *document = NULL;
    struct graft_rope *rope = NULL;
    struct graft_rope_info info = usual;
    char whole[1024];
    (void)state;
    (void)snprintf(whole, sizeof whole, "{\"rope_scaling\": %s}", text);
    assert_int_equal(graft_json_parse(whole, strlen(whole), "config.json", &document, NULL), GRAFT_OK);
    const struct graft_config config = graft_config_view(document, "config.json");
    long n = 1;
    for (int status = GRAFT_ERROR_INTERNAL; status != GRAFT_OK; n++) {
        graft_alloc_fail_at(n);
        status = service->create(&config, &info, &rope, NULL);
        graft_alloc_fail_at(0);
        assert_true(status == GRAFT_OK || status == GRAFT_ERROR_INTERNAL);
    }
    assert_int_equal(n, 5); /* three allocations that fail, and a time without */
    service->destroy(rope);
    service->destroy(NULL);
    graft_json_free(document);
}

/* Sequences shorter and longer than the original length have frequencies of their own, whatever sequences are beside
 * them. */
static void test_angles(void **state) {
    static const int64_t cu_seqlens[] = {0, 2, 3, 3, 5}, positions[] = {0, 1, 40, 5, 6};
    static const int32_t sequence_of[] = {0, 0, 1, 3, 3};
    static const int64_t lengths[] = {2, 41, 0, 7};
    const struct graft_batch batch = {
        .struct_size = sizeof batch, .sequences = 4, .tokens = 5, .cu_seqlens = cu_seqlens, .positions = positions};
    char whole[1024];
    float cosine[5 * HEAD_DIM], sine[5 * HEAD_DIM], inv_freq[HEAD_DIM / 2];
    struct graft_scratch *scratch = graft_scratch_create();
    struct graft_call call;
    (void)state;
    graft_call_init(&call, GRAFT_PRECISION_AUTO, scratch);
    (void)snprintf(whole, sizeof whole, "{\"rope_scaling\": %s}", goldens[9].parameters);
    struct graft_rope *rope = rope_of(whole, &usual);
    assert_int_equal(service->angles(rope, &call, &batch, cosine, sine, &error), GRAFT_OK);
    for (int t = 0; t < 5; t++) {
        float factor = service->frequencies(rope, lengths[sequence_of[t]], inv_freq);
        for (int i = 0; i < HEAD_DIM; i++) {
            float angle = (float)positions[t] * inv_freq[i % (HEAD_DIM / 2)];
            assert_true(cosine[t * HEAD_DIM + i] == cosf(angle) * factor);
            assert_true(sine[t * HEAD_DIM + i] == sinf(angle) * factor);
        }
    }
    service->destroy(rope);
    graft_scratch_destroy(scratch);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_goldens),        cmocka_unit_test(test_plain),    cmocka_unit_test(test_whole_heads),
        cmocka_unit_test(test_mscales),        cmocka_unit_test(test_odd_part), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_without_memory), cmocka_unit_test(test_angles),
    };
    service = graft_rope_service_of(graft_host_get());
    return cmocka_run_group_tests(tests, NULL, NULL);
}

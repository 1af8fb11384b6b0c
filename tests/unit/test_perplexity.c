/* SPDX-License-Identifier: Apache-2.0 */
/* Cross entropy compared with simple code, and calls that graft_model_perplexity refuses; tests/e2e/perplexity.sh
 * compares with the reference. */
#include "graft/host/generate.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "generate/likelihood.h"
#include "graft/host/graft.h"
#include "library/library.h"

enum { VOCAB = 583, TOKENS = 11 };

static struct graft_library *library;
static struct graft_model *model;
static struct graft_error error;

static int set_up(void **state) {
    const struct graft_model_options options = {.struct_size = sizeof options, .precision = GRAFT_PRECISION_FLOAT32};
    char directory[1024];
    (void)state;
    error = graft_error_none();
    (void)snprintf(directory, sizeof directory, "%s/goldens/plain/llama", getenv("GRAFT_TEST_DATA"));
    assert_int_equal(graft_library_create(&library, &error), GRAFT_OK);
    assert_int_equal(graft_model_open(library, directory, &options, &model, &error), GRAFT_OK);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    graft_model_free(model);
    graft_library_free(library);
    return 0;
}

static int measure(int64_t window, const int32_t *ids, size_t n, struct graft_perplexity *result) {
    const struct graft_perplexity_options options = {.struct_size = sizeof options, .window = window};
    error = graft_error_none();
    return graft_model_perplexity(model, ids, n, &options, result, &error);
}

static void test_cross_entropy(void **state) {
    const float logits[] = {0, 0, 0, 0, 1000, 0, -1000, 999, -3e38F, 3e38F, 0, 0};
    const int32_t targets[] = {2, 3, 1};
    const int32_t none[] = {-1};
    double loss[3] = {-1, -1, -1};
    (void)state;
    graft_cross_entropy(logits, 3, 4, targets, loss);
    assert_true(fabs(loss[0] - log(4.0)) < 1e-7);
    assert_true(fabs(loss[1] - (1.0 + log1p(exp(-1.0)))) < 1e-6);
    assert_true(loss[2] == 0.0);
    graft_cross_entropy(logits, 1, 4, none, loss);
    assert_true(loss[0] == 0.0);
}

static void test_cross_entropy_not_a_number(void **state) {
    const float logits[] = {0, NAN, 0, INFINITY, 0, 0};
    const int32_t targets[] = {0, 1};
    double loss[2] = {0, 0};
    (void)state;
    graft_cross_entropy(logits, 2, 3, targets, loss);
    assert_true(isnan(loss[0]) && isnan(loss[1]));
}

/* The mean of windows one by one equals that of all together, whichever share a step. */
static void test_windows(void **state) {
    static const int32_t ids[TOKENS] = {5, 9, 300, 582, 0, 44, 45, 5, 9, 301, 7};
    struct graft_perplexity all = {.struct_size = sizeof all};
    double sum = 0.0;
    (void)state;
    assert_int_equal(graft_model_load(model, &error), GRAFT_OK);
    assert_int_equal(measure(5, ids, TOKENS, &all), GRAFT_OK);
    assert_int_equal(all.windows, 2); /* the last token stands alone: it predicts nothing */
    assert_int_equal(all.predicted, 8);
    for (size_t at = 0; at < 10; at += 5) {
        struct graft_perplexity one = {.struct_size = sizeof one};
        assert_int_equal(measure(0, ids + at, 5, &one), GRAFT_OK);
        assert_int_equal(one.predicted, 4);
        sum += one.mean * 4.0;
    }
    assert_true(fabs(all.mean - sum / 8.0) < 1e-6);
    assert_true(all.perplexity == exp(all.mean));
}

static int stop(void *data, int64_t done, int64_t total, struct graft_error *reason) {
    (void)data;
    (void)total;
    return done == 4 ? graft_error_set(reason, GRAFT_ERROR_IO, "test", "enough") : GRAFT_OK;
}

static void test_progress_stops(void **state) {
    static const int32_t ids[] = {1, 2, 3, 4};
    const struct graft_perplexity_options options = {.struct_size = sizeof options, .on_progress = stop};
    struct graft_perplexity result = {.struct_size = sizeof result};
    (void)state;
    assert_int_equal(graft_model_load(model, &error), GRAFT_OK);
    assert_int_equal(graft_model_perplexity(model, ids, 4, &options, &result, &error), GRAFT_ERROR_IO);
    assert_string_equal(error.message, "enough");
}

static void test_refusals(void **state) {
    static const int32_t ids[] = {1, 2, VOCAB};
    static const int32_t negative[] = {-1, 2};
    struct graft_perplexity result = {.struct_size = sizeof result};
    (void)state;
    assert_int_equal(measure(2, ids, 2, &result), GRAFT_ERROR_USAGE); /* not loaded */
    assert_int_equal(graft_model_load(model, &error), GRAFT_OK);
    assert_int_equal(measure(1, ids, 2, &result), GRAFT_ERROR_USAGE);
    assert_int_equal(measure(-2, ids, 2, &result), GRAFT_ERROR_USAGE);
    assert_int_equal(measure(2, ids, 0, &result), GRAFT_ERROR_USAGE);
    assert_int_equal(measure(2, ids, 1, &result), GRAFT_ERROR_USAGE);
    assert_int_equal(measure(2, ids, 3, &result), GRAFT_ERROR_USAGE);
    assert_int_equal(measure(2, negative, 2, &result), GRAFT_ERROR_USAGE);
}

/* For a program of an earlier or later version, no byte beyond its struct is written. */
static void test_sizes(void **state) {
    static const int32_t ids[] = {1, 2, 3, 4};
    struct later {
        struct graft_perplexity result;
        int64_t more[2];
    } later = {.result = {.struct_size = sizeof later}, .more = {7, 7}};
    struct graft_perplexity none = {0};
    (void)state;
    assert_int_equal(graft_model_load(model, &error), GRAFT_OK);
    assert_int_equal(graft_model_perplexity(model, ids, 4, NULL, &later.result, &error), GRAFT_OK);
    assert_int_equal(later.result.struct_size, sizeof later.result);
    assert_int_equal(later.result.predicted, 3);
    assert_int_equal(graft_model_perplexity(model, ids, 4, NULL, &none, &error), GRAFT_ERROR_USAGE);
    assert_int_equal(none.predicted, 0);
    assert_string_equal(error.source, "struct graft_perplexity");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cross_entropy),
        cmocka_unit_test(test_cross_entropy_not_a_number),
        cmocka_unit_test_setup_teardown(test_windows, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_progress_stops, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refusals, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_sizes, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

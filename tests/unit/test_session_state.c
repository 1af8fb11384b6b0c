/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions of a model whose layers keep a state of each sequence: results do not depend on how tokens arrive; forks,
 * rewinding, and sessions after a failed forward. */
#include "../../sdk/examples/short_conv/short_conv.c"
#include "library_fixture.h"

#include <math.h>

#include "graft/host/observe.h"
#include "library/library.h"

enum { VOCAB = 583, SLOTS = 3, TOKENS = 8 };

static const int32_t ids[TOKENS] = {5, 6, 7, 8, 100, 101, 300, 9};
static const int32_t other_ids[TOKENS] = {17, 3, 400, 22, 5, 6, 1, 80};
static struct graft_library *library;
static struct graft_model *model;
static struct graft_session *session;
static struct graft_error error;

/* An MLP that can be made to fail. */
static const char *failing_path;

static int failing_forward(void *self, const struct graft_call *call, const struct graft_mlp_args *args,
                           struct graft_error *failure) {
    const struct graft_module *super = self;
    return failing_path != NULL && strcmp(failing_path, super->path) == 0
               ? graft_error_set(failure, GRAFT_ERROR_PLUGIN, super->path, "fails as it was told to")
               : graft_mlp_forward(super, call, args, failure);
}

static const struct graft_mlp failing_vtable = {.struct_size = sizeof failing_vtable, .forward = failing_forward};
static const struct graft_class failing_mlp = SUPER_CLASS("FailingMLP", GRAFT_INTERFACE_MLP, &failing_vtable);

static void check(int status) {
    if (status != GRAFT_OK) {
        fail_msg("%s: %s", error.source, error.message);
    }
}

static struct graft_model *load(struct graft_library *from) {
    const struct graft_model_options options = {.struct_size = sizeof options, .precision = GRAFT_PRECISION_FLOAT32};
    struct graft_model *loaded = NULL;
    char path[512];
    check(graft_model_open(from, llama_directory(path), &options, &loaded, &error));
    check(graft_model_load(loaded, &error));
    return loaded;
}

static int set_up_group(void **state) {
    (void)state;
    error = graft_error_none();
    library = new_library();
    put(library, "LlamaDecoderLayer", &short_conv);
    put(library, "LlamaMLP", &failing_mlp);
    model = load(library);
    return 0;
}

static int tear_down_group(void **state) {
    (void)state;
    graft_model_free(model);
    graft_library_free(library);
    return 0;
}

static int set_up(void **state) {
    (void)state;
    error = graft_error_none();
    failing_path = NULL;
    return graft_model_session(model, SLOTS, &session, &error);
}

static int tear_down(void **state) {
    (void)state;
    graft_session_free(session);
    return 0;
}

/* Feeds `count` tokens to a slot and returns the logits of the last: [VOCAB], valid until the next step. */
static const float *feed(int32_t slot, const int32_t *news, size_t count) {
    const struct graft_ids_view view = {.ids = news, .count = count};
    const float *logits = NULL;
    check(graft_session_step(session, &slot, &view, 1, GRAFT_LOGITS_LAST, &logits, &error));
    return logits;
}

/* Feeds two sequences in one batch and returns their last logits: [2, VOCAB]. */
static const float *feed_both(const int32_t *first, size_t first_count, const int32_t *second, size_t second_count) {
    static const int32_t slots[] = {2, 0};
    const struct graft_ids_view views[] = {{.ids = first, .count = first_count},
                                           {.ids = second, .count = second_count}};
    const float *logits = NULL;
    check(graft_session_step(session, slots, views, 2, GRAFT_LOGITS_LAST, &logits, &error));
    return logits;
}

/* The logits of the last of `count` tokens in a new session, fed at once; the caller frees them. */
static float *alone(const int32_t *news, size_t count) {
    struct graft_session *used = session;
    float *copy = malloc(VOCAB * sizeof *copy);
    check(graft_model_session(model, 1, &session, &error));
    assert_non_null(copy);
    memcpy(copy, feed(0, news, count), VOCAB * sizeof *copy);
    graft_session_free(session);
    session = used;
    return copy;
}

static float largest_difference(const float *a, const float *b) {
    float largest = 0.0F;
    for (size_t i = 0; i < VOCAB; i++) {
        largest = fmaxf(largest, fabsf(a[i] - b[i]));
    }
    return largest;
}

/* Compares `logits` with those of `count` tokens in a new session, up to the order of sums. */
static void assert_as_alone(const float *logits, const int32_t *news, size_t count) {
    float *expected = alone(news, count);
    float difference = largest_difference(logits, expected);
    free(expected);
    if (!(difference <= 5e-5F)) {
        fail_msg("logits differ by %g", (double)difference);
    }
}

/* The convolution sees earlier tokens: with others the logits differ far more than by the order of sums. */
static void test_state_matters(void **state) {
    float *with = alone(ids, 4);
    float *without = alone(ids + 3, 1);
    (void)state;
    assert_true(largest_difference(with, without) > 0.01F);
    assert_int_equal(graft_model_plan(model)->state_bytes, 2 * 2 * 2 * 64 * 4); /* layers, arrays, [2, 64] f32 */
    free(with);
    free(without);
}

static void test_token_by_token(void **state) {
    (void)state;
    for (size_t i = 0; i < TOKENS; i++) {
        assert_as_alone(feed(0, ids + i, 1), ids, i + 1);
    }
    assert_as_alone(feed(1, ids, 3), ids, 3);
    assert_as_alone(feed(1, ids + 3, 4), ids, 7);
}

static void test_batches(void **state) {
    (void)state;
    const float *logits = feed_both(ids, 4, other_ids, 1);
    assert_as_alone(logits, ids, 4);
    assert_as_alone(logits + VOCAB, other_ids, 1);
    logits = feed_both(ids + 4, 1, other_ids + 1, 3);
    assert_as_alone(logits, ids, 5);
    assert_as_alone(logits + VOCAB, other_ids, 4);
}

/* Both sides of a fork continue from their common tokens, independently. */
static void test_fork(void **state) {
    static const int32_t branch[] = {5, 6, 7, 8, 17, 3};
    (void)state;
    (void)feed(1, other_ids, 6);
    (void)feed(0, ids, 4);
    check(graft_session_fork(session, 0, 1, &error));
    assert_as_alone(feed(1, branch + 4, 2), branch, 6);
    assert_as_alone(feed(0, ids + 4, 2), ids, 6);
    assert_as_alone(feed(1, ids + 4, 1), (const int32_t[]){5, 6, 7, 8, 17, 3, 100}, 7);
}

static void test_slot_used_again(void **state) {
    int64_t reached = -1;
    (void)state;
    (void)feed(1, other_ids, 6);
    check(graft_session_rewind(session, 1, 0, &reached, &error));
    assert_int_equal(reached, 0);
    assert_as_alone(feed(1, ids, 3), ids, 3);
    assert_as_alone(feed(1, ids + 3, 1), ids, 4);
}

/* Rewinds to a place with known states, and continues from there. */
static void test_rewind(void **state) {
    int64_t reached = -1;
    (void)state;
    (void)feed(0, ids, 3);
    (void)feed(0, other_ids, 3);
    check(graft_session_rewind(session, 0, 100, &reached, &error));
    assert_int_equal(reached, 6);
    check(graft_session_rewind(session, 0, 4, &reached, &error));
    assert_int_equal(reached, 3);
    assert_as_alone(feed(0, ids + 3, 2), ids, 5);
    check(graft_session_rewind(session, 0, 2, &reached, &error));
    assert_int_equal(reached, 0);
    assert_as_alone(feed(0, ids, 2), ids, 2);
}

/* Two sequences in steps of several lengths, comparing all logits; a step fails at one module before it is repeated. */
static float *run(const char *path, size_t failing_step) {
    static const struct {
        size_t first, first_count, second, second_count;
    } steps[] = {{0, 3, 0, 1}, {3, 1, 1, 1}, {4, 1, 2, 4}, {5, 3, 6, 2}};
    const size_t n = sizeof steps / sizeof steps[0];
    float *logits = malloc(n * 2 * VOCAB * sizeof *logits);
    assert_non_null(logits);
    check(graft_model_session(model, SLOTS, &session, &error));
    for (size_t i = 0; i < n; i++) {
        static const int32_t slots[] = {2, 0};
        const struct graft_ids_view views[] = {{.ids = ids + steps[i].first, .count = steps[i].first_count},
                                               {.ids = other_ids + steps[i].second, .count = steps[i].second_count}};
        const float *row;
        failing_path = path;
        for (size_t times = 0; i == failing_step && times < 2; times++) {
            struct graft_error failure = graft_error_none();
            assert_int_equal(graft_session_step(session, slots, views, 2, GRAFT_LOGITS_LAST, &row, &failure),
                             GRAFT_ERROR_PLUGIN);
            assert_string_equal(failure.source, path);
        }
        failing_path = NULL;
        row = feed_both(views[0].ids, views[0].count, views[1].ids, views[1].count);
        memcpy(logits + i * 2 * VOCAB, row, (size_t)2 * VOCAB * sizeof *logits);
    }
    graft_session_free(session);
    return logits;
}

/* After a failure at any module and step a session continues as if nothing had happened, to the bit. */
static void test_failure_leaves_all_as_it_was(void **state) {
    static const char *const paths[] = {"model.layers.0.mlp", "model.layers.1.mlp"};
    float *expected = run(NULL, SIZE_MAX);
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        for (size_t step = 0; step < 4; step++) {
            float *logits = run(paths[i], step);
            assert_memory_equal(logits, expected, sizeof(float) * 4 * 2 * VOCAB);
            free(logits);
        }
    }
    free(expected);
}

/* A comparison keeps states of the originals, which follow the sequences of each run, also after a failed one. */
static void test_comparison(void **state) {
    struct graft_library *originals = new_library();
    struct graft_comparison *comparison = NULL;
    (void)state;
    put(originals, "LlamaDecoderLayer", &short_conv);
    struct graft_model *original = load(originals);
    check(graft_model_compare(model, original, SLOTS, &comparison, &error));
    free(run("model.layers.1.mlp", 2));
    free(run(NULL, SIZE_MAX));
    const struct graft_compared *layer = graft_comparison_at(comparison, 0);
    assert_string_equal(layer->module->path, "model.layers.0");
    assert_string_equal(layer->module->class_name, "ShortConvDecoderLayer");
    assert_null(layer->reason);
    assert_int_equal(layer->calls, 10);
    assert_true(layer->outputs.difference == 0.0);
    graft_comparison_free(comparison);
    graft_model_free(original);
    graft_library_free(originals);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_state_matters, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_token_by_token, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_batches, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_fork, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_slot_used_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_rewind, set_up, tear_down),
        cmocka_unit_test(test_failure_leaves_all_as_it_was),
        cmocka_unit_test(test_comparison),
    };
    return cmocka_run_group_tests(tests, set_up_group, tear_down_group);
}

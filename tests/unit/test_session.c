/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions of a real model: calls that they refuse, independence of sequences, and the returned rows. */
#include "generate/session.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "library/library.h"

enum { VOCAB = 583 };

static struct graft_library *library;
static struct graft_model *model;
static struct graft_session *session;
static struct graft_error error;

static int load(void **state) {
    const struct graft_model_options options = {.struct_size = sizeof options, .precision = GRAFT_PRECISION_FLOAT32};
    char directory[1024];
    (void)state;
    error = graft_error_none();
    (void)snprintf(directory, sizeof directory, "%s/goldens/plain/llama", getenv("GRAFT_TEST_DATA"));
    assert_int_equal(graft_library_create(&library, &error), GRAFT_OK);
    assert_int_equal(graft_model_open(library, directory, &options, &model, &error), GRAFT_OK);
    assert_int_equal(graft_model_load(model, &error), GRAFT_OK);
    assert_int_equal(graft_model_vocab_size(model), VOCAB);
    return 0;
}

static int unload(void **state) {
    (void)state;
    graft_model_free(model);
    graft_library_free(library);
    return 0;
}

static int set_up(void **state) {
    (void)state;
    error = graft_error_none();
    return graft_session_create(model->head, VOCAB, GRAFT_PRECISION_FLOAT32, GRAFT_DTYPE_F32, 2, &session, &error);
}

static int tear_down(void **state) {
    (void)state;
    graft_session_free(session);
    return 0;
}

/* One sequence's step. */
static int step(int32_t slot, const int32_t *ids, size_t count, enum graft_logits_rows which, const float **logits) {
    const struct graft_ids_view view = {.ids = ids, .count = count};
    error = graft_error_none();
    return graft_session_step(session, &slot, &view, 1, which, logits, &error);
}

static void assert_close(const float *a, const float *b, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (!(fabsf(a[i] - b[i]) <= 5e-5F)) {
            fail_msg("number %zu: %g and %g", i, (double)a[i], (double)b[i]);
        }
    }
}

static float *copied(const float *logits, size_t rows) {
    float *copy = malloc(rows * VOCAB * sizeof *copy);
    assert_non_null(copy);
    return memcpy(copy, logits, rows * VOCAB * sizeof *copy);
}

static void test_ids_out_of_range(void **state) {
    static const int32_t bad[][2] = {{1, VOCAB}, {-1, 1}, {INT32_MAX, 1}, {1, INT32_MIN}};
    const float *logits;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char id[24];
        (void)snprintf(id, sizeof id, "%d", (int)(bad[i][0] == 1 ? bad[i][1] : bad[i][0]));
        assert_int_equal(step(0, bad[i], 2, GRAFT_LOGITS_ALL, &logits), GRAFT_ERROR_USAGE);
        assert_non_null(strstr(error.message, id));
        assert_non_null(strstr(error.message, "583"));
    }
}

static void test_empty_sequences(void **state) {
    static const int32_t ids[] = {5, 6};
    static const int32_t slots[] = {0, 1};
    const struct graft_ids_view views[] = {{.ids = ids, .count = 2}, {.ids = ids, .count = 0}};
    const float *logits;
    (void)state;
    assert_int_equal(step(0, ids, 0, GRAFT_LOGITS_LAST, &logits), GRAFT_ERROR_USAGE);
    assert_int_equal(graft_session_step(session, slots, views, 2, GRAFT_LOGITS_LAST, &logits, &error),
                     GRAFT_ERROR_USAGE);
}

/* A refused step leaves the sequence unchanged. */
static void test_refused_step_changes_nothing(void **state) {
    static const int32_t ids[] = {5, 6, 7};
    static const int32_t bad[] = {9, VOCAB};
    const float *logits;
    (void)state;
    assert_int_equal(step(0, ids, 3, GRAFT_LOGITS_LAST, &logits), GRAFT_OK);
    float *whole = copied(logits, 1);
    assert_int_equal(step(1, ids, 2, GRAFT_LOGITS_LAST, &logits), GRAFT_OK);
    assert_int_equal(step(1, bad, 2, GRAFT_LOGITS_LAST, &logits), GRAFT_ERROR_USAGE);
    assert_int_equal(step(1, ids + 2, 1, GRAFT_LOGITS_LAST, &logits), GRAFT_OK);
    assert_close(logits, whole, VOCAB);
    free(whole);
}

/* A step beyond the model's last position is refused as a whole; up to it nothing changes. */
static void test_last_position(void **state) {
    static const int32_t ids[] = {5, 6, 7};
    const float *logits;
    (void)state;
    graft_session_limit(session, 4);
    assert_int_equal(step(0, ids, 3, GRAFT_LOGITS_LAST, &logits), GRAFT_OK);
    assert_int_equal(step(0, ids, 2, GRAFT_LOGITS_LAST, &logits), GRAFT_ERROR_USAGE);
    assert_string_equal(error.message, "sequence 0 would have 5 tokens, but the model has positions for 4");
    error = graft_error_none();
    assert_int_equal(step(0, ids, 1, GRAFT_LOGITS_LAST, &logits), GRAFT_OK);
    assert_int_equal(step(1, ids, 3, GRAFT_LOGITS_LAST, &logits), GRAFT_OK);
}

/* The last rows equal those of all rows, in the order of the batch. */
static void test_rows(void **state) {
    static const int32_t ids[] = {5, 6, 7, 8};
    static const int32_t slots[] = {1, 0};
    const struct graft_ids_view views[] = {{.ids = ids, .count = 4}, {.ids = ids + 1, .count = 2}};
    const float *logits;
    struct graft_session *other = NULL;
    (void)state;
    assert_int_equal(graft_session_step(session, slots, views, 2, GRAFT_LOGITS_ALL, &logits, &error), GRAFT_OK);
    float *all = copied(logits, 6);
    assert_int_equal(
        graft_session_create(model->head, VOCAB, GRAFT_PRECISION_FLOAT32, GRAFT_DTYPE_F32, 2, &other, &error),
        GRAFT_OK);
    assert_int_equal(graft_session_step(other, slots, views, 2, GRAFT_LOGITS_LAST, &logits, &error), GRAFT_OK);
    assert_close(logits, all + 3 * VOCAB, VOCAB);
    assert_close(logits + VOCAB, all + 5 * VOCAB, VOCAB);
    graft_session_free(other);
    free(all);
}

/* Slots are independent; each sequence continues from its own tokens. */
static void test_slots(void **state) {
    static const int32_t first[] = {5, 6, 7, 8, 9};
    static const int32_t second[] = {100, 101, 102};
    const float *logits;
    (void)state;
    assert_int_equal(step(0, first, 5, GRAFT_LOGITS_ALL, &logits), GRAFT_OK);
    float *alone = copied(logits + 4 * VOCAB, 1);
    graft_session_free(session);
    assert_int_equal(set_up(NULL), 0);
    assert_int_equal(step(1, first, 2, GRAFT_LOGITS_LAST, &logits), GRAFT_OK);
    assert_int_equal(step(0, second, 3, GRAFT_LOGITS_LAST, &logits), GRAFT_OK);
    assert_int_equal(step(1, first + 2, 2, GRAFT_LOGITS_LAST, &logits), GRAFT_OK);
    const int32_t slots[] = {0, 1};
    const struct graft_ids_view views[] = {{.ids = second, .count = 1}, {.ids = first + 4, .count = 1}};
    assert_int_equal(graft_session_step(session, slots, views, 2, GRAFT_LOGITS_LAST, &logits, &error), GRAFT_OK);
    assert_close(logits + VOCAB, alone, VOCAB);
    free(alone);
}

/* A step in several forwards gives the same bits as in one, wherever sequences are cut. */
static void check_portions(int64_t tokens, enum graft_logits_rows which) {
    enum { LONG = 100, SHORT = 30, TINY = 3 };
    static const int32_t slots[] = {1, 0};
    static int32_t ids[LONG];
    const struct graft_ids_view views[] = {{.ids = ids, .count = LONG}, {.ids = ids + 7, .count = SHORT}};
    size_t rows = which == GRAFT_LOGITS_ALL ? LONG + SHORT : 2;
    const float *logits;
    for (int32_t i = 0; i < LONG; i++) {
        ids[i] = (i * 37 + 11) % VOCAB;
    }
    float *whole = NULL;
    float *next = NULL;
    for (int part = 0; part < 2; part++) {
        graft_session_set_portion(session, part == 0 ? 0 : tokens);
        assert_int_equal(graft_session_step(session, slots, views, 2, which, &logits, &error), GRAFT_OK);
        if (part == 0) {
            whole = copied(logits, rows);
        } else {
            assert_memory_equal(logits, whole, rows * VOCAB * sizeof *logits);
        }
        assert_int_equal(step(1, ids, TINY, GRAFT_LOGITS_ALL, &logits), GRAFT_OK);
        if (part == 0) {
            next = copied(logits, TINY);
        } else {
            assert_memory_equal(logits, next, TINY * VOCAB * sizeof *logits);
        }
        graft_session_free(session);
        assert_int_equal(set_up(NULL), 0);
    }
    free(whole);
    free(next);
}

static void test_portions(void **state) {
    static const int64_t tokens[] = {2 * (GRAFT_SMALL_BATCH + 1), 40, 64, 90, 100, 128};
    (void)state;
    for (size_t i = 0; i < sizeof tokens / sizeof tokens[0]; i++) {
        check_portions(tokens[i], GRAFT_LOGITS_LAST);
        check_portions(tokens[i], GRAFT_LOGITS_ALL);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_ids_out_of_range, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_empty_sequences, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refused_step_changes_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_last_position, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_rows, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_slots, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_portions, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, load, unload);
}

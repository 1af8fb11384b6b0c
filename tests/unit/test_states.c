/* SPDX-License-Identifier: Apache-2.0 */
/* States of sequences in forwards: they begin as zeros, continue as they were left, and are copied and rewound. */
#include "kernels/states.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "graft/state.h"
#include "kernels/cache.h"
#include "kernels/kernels.h"

enum { SLOTS = 3, COUNT = 2 };

static const struct graft_state kinds[COUNT] = {{0, 20001 * sizeof(int64_t)},
                                                {1, sizeof(int64_t)}}; /* copied in parts; small */
static struct graft_cache *cache;
static struct graft_error error;

static int set_up(void **state) {
    (void)state;
    error = graft_error_none();
    cache = graft_cache_create(SLOTS, GRAFT_DTYPE_F32);
    return cache == NULL;
}

static int tear_down(void **state) {
    (void)state;
    graft_cache_destroy(cache);
    return 0;
}

static int64_t *step(int32_t kind, int32_t slot, int64_t position, int64_t tokens) {
    void *data = NULL;
    return graft_states_step(cache->states, &kinds[kind], slot, position, tokens, &data, &error) == GRAFT_OK ? data
                                                                                                             : NULL;
}

/* A module that counts tokens, in each of its states. */
static void count(int32_t kind, int32_t slot, int64_t position, int64_t tokens) {
    int64_t *counts = step(kind, slot, position, tokens);
    assert_non_null(counts);
    for (int64_t i = 0; i < kinds[kind].bytes / (int64_t)sizeof *counts; i++) {
        assert_int_equal(counts[i], position);
        counts[i] += tokens;
    }
}

static void count_both(int32_t slot, int64_t position, int64_t tokens) {
    count(0, slot, position, tokens);
    count(1, slot, position, tokens);
}

static int64_t rewind_to(int32_t slot, int64_t length) {
    int64_t reached = -1;
    assert_int_equal(graft_cache_rewind(cache, slot, length, &reached, &error), GRAFT_OK);
    return reached;
}

static void test_goes_on(void **state) {
    (void)state;
    count_both(1, 0, 7);
    count_both(2, 0, 2);
    for (int64_t position = 7; position < 20; position++) {
        count_both(1, position, 1);
    }
    count_both(2, 2, 30);
}

/* However often a module asks in a step, it gets the array that it has changed. */
static void test_same_within_a_step(void **state) {
    (void)state;
    count(0, 0, 0, 3);
    int64_t *counts = step(0, 0, 3, 2);
    assert_int_equal(counts[0], 3);
    counts[0] = 5;
    assert_ptr_equal(step(0, 0, 3, 2), counts);
    assert_int_equal(counts[0], 5);
}

static void test_out_of_step(void **state) {
    (void)state;
    count(0, 0, 0, 3);
    assert_null(step(0, 0, 4, 1));
    assert_non_null(strstr(error.message, "has seen 3 tokens, but the batch continues at position 4"));
    assert_null(step(0, 0, 2, 1));
    assert_null(step(0, SLOTS, 0, 1));
    assert_null(step(0, -1, 0, 1));
    count(0, 0, 3, 1);
}

/* Rewinds by one step, or to the start; never to a place without a known state. */
static void test_rewind(void **state) {
    (void)state;
    count_both(0, 0, 4);
    count_both(0, 4, 3);
    count_both(0, 7, 2);
    assert_int_equal(rewind_to(0, 9), 9);
    assert_int_equal(rewind_to(0, 8), 7);
    count_both(0, 7, 1);
    assert_int_equal(rewind_to(0, 7), 7);
    assert_int_equal(rewind_to(0, 6), 0); /* what was before the step from 4 on is gone */
    count_both(0, 0, 5);
    assert_int_equal(rewind_to(0, 3), 0);
    count_both(0, 0, 1);
}

/* After a failed forward one state has moved, and the other has not. */
static void test_half_a_step(void **state) {
    (void)state;
    for (int32_t kind = 0; kind < COUNT; kind++) {
        count_both(kind, 0, 4);
        count(kind, kind, 4, 2);
        assert_int_equal(rewind_to(kind, 4), 4);
        count_both(kind, 4, 2);
        count(kind, kind, 6, 1);
        assert_int_equal(rewind_to(kind, 5), 0);
        count_both(kind, 0, 2);
    }
    count(0, 2, 0, 3);
    assert_int_equal(rewind_to(2, 0), 0);
    count_both(2, 0, 3);
}

static void test_fork(void **state) {
    (void)state;
    count_both(0, 0, 4);
    count_both(1, 0, 9);
    assert_int_equal(graft_cache_fork(cache, 0, 1, &error), GRAFT_OK);
    count_both(1, 4, 2);
    count_both(0, 4, 5);
    assert_int_equal(rewind_to(1, 4), 4);
    count_both(1, 4, 1);
    assert_int_equal(graft_cache_fork(cache, 2, 1, &error), GRAFT_OK); /* of an empty one */
    count_both(1, 0, 1);
    assert_int_equal(graft_cache_fork(cache, 0, 0, &error), GRAFT_OK);
    count_both(0, 9, 1);
    assert_int_equal(graft_cache_fork(cache, 0, SLOTS, &error), GRAFT_ERROR_INTERNAL);
}

/* If memory runs out, a step leaves the state unchanged, and a fork leaves its target empty. */
static void test_without_memory(void **state) {
    (void)state;
    long n = 1;
    count_both(0, 0, 3);
    for (int done = 0; !done; n++) {
        graft_alloc_fail_at(n);
        int forked = graft_cache_fork(cache, 0, 1, NULL) == GRAFT_OK;
        done = graft_alloc_fail_at(0) != 0;
        assert_int_equal(forked, done);
        count_both(1, forked ? 3 : 0, 2);
        graft_cache_destroy(cache);
        assert_int_equal(set_up(NULL), 0);
        count_both(0, 0, 3);
    }
    assert_in_range(n, 3, 10);
    graft_alloc_fail_at(1);
    assert_null(step(0, 0, 3, 1));
    graft_alloc_fail_at(0);
    count_both(0, 3, 1);
    for (n = 1; n < 4; n++) {
        graft_alloc_fail_at(n);
        assert_null(graft_cache_create(SLOTS, GRAFT_DTYPE_F32));
        graft_alloc_fail_at(0);
    }
}

/* Uses the call as modules do. Without a cache the state is zeros in scratch memory. */
static void test_call(void **state) {
    static const int64_t cu_seqlens[] = {0, 2, 2, 3};
    static const int64_t positions[] = {0, 1, 0};
    static const int32_t slots[] = {1, 0, 2};
    struct graft_scratch *scratch = graft_scratch_create();
    struct graft_batch batch = {.struct_size = sizeof batch,
                                .sequences = 3,
                                .tokens = 3,
                                .cu_seqlens = cu_seqlens,
                                .positions = positions,
                                .slots = slots,
                                .cache = cache};
    struct graft_call call;
    (void)state;
    graft_call_init(&call, GRAFT_PRECISION_FLOAT32, scratch);
    for (int kept = 1; kept >= 0; kept--) {
        int64_t *first = graft_state_get(&call, &batch, &kinds[0], 0, &error);
        int64_t *last = graft_state_get(&call, &batch, &kinds[0], 2, &error);
        assert_true(first != NULL && last != NULL && first != last);
        assert_true((uintptr_t)first % 64 == 0 && (uintptr_t)last % 64 == 0);
        assert_true(first[0] == 0 && first[2] == 0 && last[0] == 0);
        first[0] = last[0] = 77;
        int64_t *again = graft_state_get(&call, &batch, &kinds[0], 0, &error);
        assert_int_equal(again[0], kept ? 77 : 0);
        error = graft_error_none();
        assert_null(graft_state_get(&call, &batch, &kinds[0], 1, &error));
        assert_non_null(strstr(error.message, "sequence 1 has no tokens"));
        assert_null(graft_state_get(&call, &batch, &kinds[0], 3, NULL));
        assert_null(graft_state_get(&call, &batch, &kinds[0], -1, NULL));
        batch.cache = NULL;
    }
    graft_scratch_destroy(scratch);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_goes_on, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_same_within_a_step, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_out_of_step, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_rewind, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_half_a_step, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_fork, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_without_memory, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_call, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

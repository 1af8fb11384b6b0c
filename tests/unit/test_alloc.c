/* SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* A size that the compiler does not know, so that it does not warn of the tested calls. */
static volatile size_t huge = SIZE_MAX;

static void test_zeroed(void **state) {
    (void)state;
    unsigned char *bytes = graft_alloc(3, 5);
    assert_non_null(bytes);
    for (int i = 0; i < 15; i++) {
        assert_int_equal(bytes[i], 0);
    }
    graft_free(bytes);
    graft_free(NULL);
}

static void test_nothing_is_something(void **state) {
    (void)state;
    void *blocks[] = {graft_alloc(0, 8), graft_alloc(8, 0), graft_realloc(NULL, 0, 1), graft_alloc_aligned(64, 0)};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
        assert_non_null(blocks[i]);
        graft_free(blocks[i]);
    }
}

static void test_overflow(void **state) {
    (void)state;
    assert_null(graft_alloc(huge / 2, 3));
    assert_null(graft_realloc(NULL, huge / 2, 3));
    assert_null(graft_strndup("", huge));
    int *array = NULL;
    size_t capacity = huge / 2 + 1;
    assert_int_equal(graft_grow(&array, &capacity, capacity, sizeof *array), -1);
    assert_int_equal(capacity, huge / 2 + 1);
}

static void test_aligned(void **state) {
    (void)state;
    for (size_t alignment = 1; alignment <= 4096; alignment *= 2) {
        void *block = graft_alloc_aligned(alignment, 100);
        assert_non_null(block);
        assert_int_equal((uintptr_t)block % alignment, 0);
        graft_free(block);
    }
}

static void test_strings(void **state) {
    (void)state;
    char *whole = graft_strdup("text");
    char *part = graft_strndup("text", 2);
    char *made = graft_format("%s-%03d", part, 7);
    assert_string_equal(whole, "text");
    assert_string_equal(part, "te");
    assert_string_equal(made, "te-007");
    graft_free(whole);
    graft_free(part);
    graft_free(made);
}

static void test_grow(void **state) {
    (void)state;
    int64_t *numbers = NULL;
    size_t capacity = 0;
    for (size_t count = 0; count < 1000; count++) {
        assert_int_equal(graft_grow(&numbers, &capacity, count, sizeof *numbers), 0);
        assert_true(capacity > count);
        numbers[count] = (int64_t)count;
    }
    assert_int_equal(numbers[999], 999);
    graft_alloc_fail_at(1);
    size_t before = capacity;
    assert_int_equal(graft_grow(&numbers, &capacity, capacity, sizeof *numbers), -1);
    assert_int_equal(capacity, before);
    assert_int_equal(numbers[999], 999);
    graft_free(numbers);
}

static void test_fail_at(void **state) {
    (void)state;
    assert_int_equal(graft_alloc_fail_at(2), 0);
    void *first = graft_alloc(1, 1);
    assert_non_null(first);
    assert_null(graft_alloc_aligned(64, 64));
    void *third = graft_alloc(1, 1);
    assert_non_null(third);
    assert_int_equal(graft_alloc_fail_at(5), 0);
    graft_free(first);
    graft_free(third);
    assert_int_equal(graft_alloc_fail_at(1), 5);
    assert_null(graft_format("%d", 1));
    graft_alloc_fail_at(1);
    assert_null(graft_strdup("a"));
    assert_int_equal(graft_alloc_fail_at(0), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zeroed),   cmocka_unit_test(test_nothing_is_something),
        cmocka_unit_test(test_overflow), cmocka_unit_test(test_aligned),
        cmocka_unit_test(test_strings),  cmocka_unit_test(test_grow),
        cmocka_unit_test(test_fail_at),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Tests which rows an adapter applies to, before and after rows are selected. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "rows.h"

static char memory[1 << 12];
static int64_t used;

static void *take(struct graft_scratch *scratch, int64_t bytes) {
    void *at = memory + used;
    (void)scratch;
    used += (bytes + 63) / 64 * 64;
    return used <= (int64_t)sizeof memory ? at : NULL;
}

static struct graft_call call_with(const struct graft_row_adapters *row_adapters) {
    used = 0;
    return (struct graft_call){
        .struct_size = sizeof(struct graft_call), .scratch_alloc = take, .row_adapters = row_adapters};
}

static const int32_t adapters[] = {0, 1, GRAFT_ADAPTER_NONE, GRAFT_ADAPTER_ALL, 1};
static const struct graft_row_adapters mixed = {.struct_size = sizeof mixed, .rows = 5, .adapters = adapters};

static void test_mixed(void **state) {
    const struct graft_call call = call_with(&mixed);
    struct lora_rows rows;
    (void)state;
    assert_int_equal(lora_rows_of(&call, 5, 1, &rows, NULL), GRAFT_OK);
    assert_int_equal(rows.n, 3);
    assert_int_equal(rows.index[0], 1);
    assert_int_equal(rows.index[1], 3);
    assert_int_equal(rows.index[2], 4);
    assert_int_equal(lora_rows_of(&call, 5, 2, &rows, NULL), GRAFT_OK);
    assert_int_equal(rows.n, 1);
}

/* Whatever the number of rows. */
static void test_uniform(void **state) {
    const struct graft_row_adapters one = {.struct_size = sizeof one, .adapter = 1};
    const struct graft_row_adapters none = {.struct_size = sizeof none, .adapter = GRAFT_ADAPTER_NONE};
    struct graft_call call = call_with(&one);
    struct lora_rows rows;
    (void)state;
    assert_int_equal(lora_rows_of(&call, 7, 1, &rows, NULL), GRAFT_OK);
    assert_int_equal(rows.n, 7);
    assert_null(rows.index);
    assert_int_equal(lora_rows_of(&call, 7, 0, &rows, NULL), GRAFT_OK);
    assert_int_equal(rows.n, 0);
    call = call_with(&none);
    assert_int_equal(lora_rows_of(&call, 7, 0, &rows, NULL), GRAFT_OK);
    assert_int_equal(rows.n, 0);
    call = call_with(NULL);
    assert_int_equal(lora_rows_of(&call, 7, 0, &rows, NULL), GRAFT_OK);
    assert_int_equal(rows.n, 7);
}

static void test_gathered(void **state) {
    static const int32_t taken[] = {4, 0};
    const struct graft_call call = call_with(&mixed), plain = call_with(NULL);
    struct graft_error error = graft_error_none();
    struct graft_gathered_call space;
    struct lora_rows rows;
    (void)state;
    const struct graft_call *child = graft_call_gather(&call, taken, 2, &space, &error);
    assert_non_null(child);
    assert_int_equal(lora_rows_of(child, 2, 1, &rows, NULL), GRAFT_OK);
    assert_int_equal(rows.n, 1);
    assert_int_equal(rows.index[0], 0);
    assert_ptr_equal(graft_call_gather(&plain, taken, 2, &space, &error), &plain);
    used = sizeof memory;
    assert_null(graft_call_gather(&call, taken, 2, &space, &error));
    assert_int_equal(error.code, GRAFT_ERROR_INTERNAL);
}

/* Rows that were selected without their adapters. */
static void test_lost(void **state) {
    const struct graft_call call = call_with(&mixed);
    struct graft_error error = graft_error_none();
    struct lora_rows rows;
    (void)state;
    assert_int_equal(lora_rows_of(&call, 2, 1, &rows, &error), GRAFT_ERROR_PLUGIN);
    assert_non_null(strstr(error.message, "given 2 rows and adapters of 5"));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_mixed), cmocka_unit_test(test_uniform),
                                       cmocka_unit_test(test_gathered), cmocka_unit_test(test_lost)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

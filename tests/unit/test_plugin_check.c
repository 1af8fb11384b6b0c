/* SPDX-License-Identifier: Apache-2.0 */
/* Options of the checks that were added after version 1.0: only programs built with them have them. */
#include "plugin_fixture.h"

#include "graft/host/validate.h"

/* Stops after the first check. */
static int stop(void *data, const struct graft_check_result *result, struct graft_error *error) {
    int *made = data;
    ++*made;
    return graft_error_set(error, GRAFT_ERROR_INTERNAL, result->info->name, "stopped");
}

static int check(uint32_t struct_size, int *made, struct graft_error *error) {
    const struct graft_check_options options = {.struct_size = struct_size, .model = "/nowhere"};
    char path[PATH_ROOM];
    built_plugin(path, "good");
    *made = 0;
    *error = graft_error_none();
    return graft_plugin_check(path, &options, stop, made, error);
}

static void test_growth(void **state) {
    struct graft_error error;
    int made;
    (void)state;
    assert_int_equal(check(sizeof(struct graft_check_options), &made, &error), GRAFT_ERROR_MODEL);
    assert_string_equal(error.source, "/nowhere/config.json");
    assert_int_equal(made, 0);
    assert_int_equal(check(GRAFT_CHECK_OPTIONS_SIZE_1_0, &made, &error), GRAFT_ERROR_INTERNAL);
    assert_int_equal(made, 1);
    assert_int_equal(check(GRAFT_CHECK_OPTIONS_SIZE_1_0 - 1, &made, &error), GRAFT_ERROR_USAGE);
    assert_int_equal(made, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_growth)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

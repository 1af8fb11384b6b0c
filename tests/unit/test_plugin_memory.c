/* SPDX-License-Identifier: Apache-2.0 */
/* Loads plugins while each allocation fails in turn: the result is an error, everything is freed, and the next load
 * succeeds. */
#include "plugin_fixture.h"

#include "base/alloc.h"
#include "registry/built_in.h"

static void test_each_allocation(void **state) {
    static const char *const ids[] = {"good", "other", "acme"};
    static const char family[] = "{\"model_type\": \"acme\", \"like\": \"llama\", \"aliases\": {\"a\": \"b\"}, "
                                 "\"ignored_tensors\": \"x\", \"classes\": {\"A\": {\"base\": \"LlamaMLP\", "
                                 "\"conversions\": [{\"sources\": \"a\", \"targets\": [\"b\", \"c\"], "
                                 "\"operations\": [{\"op\": \"Chunk\"}]}]}}}";
    struct graft_error none = graft_error_none();
    struct graft_built_in *built_in = NULL;
    assert_int_equal(graft_built_in_hold(&built_in, &none), GRAFT_OK);
    assert_int_equal(graft_built_in_read_all(built_in, &none), GRAFT_OK);
    const struct graft_plugin_options options = {
        .allow = ids, .n_allow = 3, .skip_bad = 1, .families = graft_built_in_finder(built_in)};
    char folder[PATH_ROOM];
    const char *directory = folder;
    long n = 1;
    (void)state;
    make_folder(folder);
    copy_plugin(folder, "good", "a.so");
    copy_plugin(folder, "no_entry", "b.so");
    copy_plugin(folder, "other", "c.so");
    copy_plugin(folder, "rename_two", "d.so");
    write_bytes(folder, "acme.family.json", family, sizeof family - 1);
    for (;; n++) {
        struct graft_error error = graft_error_none();
        struct graft_plugin_set *set = NULL;
        (void)graft_alloc_fail_at(n);
        int status = graft_plugins_load(&directory, 1, &options, &set, &error);
        long left = graft_alloc_fail_at(0);
        if (status == GRAFT_OK) {
            /* All allocations succeeded, or the failed one was PCRE2's memory for JIT code, which is optional. */
            assert_int_equal(set->n, 3);
            graft_plugin_set_free(set);
        } else {
            assert_int_equal(status, GRAFT_ERROR_INTERNAL);
            assert_int_equal(error.code, GRAFT_ERROR_INTERNAL);
            assert_null(set);
        }
        if (left != 0) {
            assert_int_equal(status, GRAFT_OK);
            break;
        }
    }
    assert_true(n > 20);
    graft_built_in_release(built_in);
    remove_folder(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_allocation)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

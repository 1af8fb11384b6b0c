/* SPDX-License-Identifier: Apache-2.0 */
/* Allow lists, ranks, duplicate ids, and plugins shared by several sets. */
#include "plugin_fixture.h"

#include <ltdl.h>
#include <pthread.h>

static char folder[PATH_ROOM];

static int setup(void **state) {
    (void)state;
    make_folder(folder);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    remove_folder(folder);
    return 0;
}

static void expect_report(const struct graft_plugin_options *options, const char *expected) {
    struct graft_text report = {0};
    load_report(&report, folder, options);
    assert_string_equal(report.bytes, expected);
    graft_text_free(&report);
}

static struct graft_plugin_set *load(const char *directory, const struct graft_plugin_options *options) {
    struct graft_error error = graft_error_none();
    struct graft_plugin_set *set = NULL;
    int status = graft_plugins_load(&directory, 1, options, &set, &error);
    assert_string_equal(error.message, "");
    assert_int_equal(status, GRAFT_OK);
    return set;
}

static void test_same_id_twice(void **state) {
    (void)state;
    copy_plugin(folder, "good", "a.so");
    copy_plugin(folder, "good_twin", "b.so");
    expect_report(NULL, "error: DIR/b.so: the plugin id \"good\" is already used by DIR/a.so; remove one of them\n");
}

/* entry_refuses has no known id, and rename_two is not wanted: neither prevents the load. */
static void test_allow_list(void **state) {
    static const char *const ids[] = {"second", "good"};
    struct graft_plugin_options options = {.allow = &ids[1], .n_allow = 1};
    (void)state;
    copy_plugin(folder, "good", "good.so");
    copy_plugin(folder, "entry_refuses", "entry_refuses.so");
    copy_plugin(folder, "rename_two", "rename_two.so");
    struct graft_plugin_set *set = load(folder, &options);
    assert_int_equal(set->n, 1);
    assert_int_equal(set->plugins[0].rank, 1);
    assert_string_equal(set->plugins[0].descriptor->id, "good");
    assert_int_equal(set->n_notes, 1);
    graft_plugin_set_free(set);

    options = (struct graft_plugin_options){.allow = ids, .n_allow = 2};
    struct graft_text report = {0};
    load_report(&report, folder, &options);
    assert_non_null(strstr(report.bytes,
                           "error: : no plugin has the id \"second\"; known ids: good, rename_two; fix or remove "
                           "the files that could not be used: DIR/entry_refuses.so: skipped: "));
    graft_text_free(&report);
}

static void test_rank_is_the_order_of_the_list(void **state) {
    static const char *const ids[] = {"other", "good"};
    static const struct graft_plugin_options options = {.allow = ids, .n_allow = 2, .skip_bad = 1};
    static const char *const twice[] = {"good", "good"};
    struct graft_plugin_options wrong = {.allow = twice, .n_allow = 2};
    (void)state;
    copy_plugin(folder, "good", "a.so");
    copy_plugin(folder, "other", "b.so");
    struct graft_plugin_set *set = load(folder, &options);
    assert_int_equal(set->n, 2);
    assert_string_equal(set->plugins[0].descriptor->id, "good");
    assert_int_equal(set->plugins[0].rank, 2);
    assert_int_equal(set->plugins[1].rank, 1);
    graft_plugin_set_free(set);
    expect_report(&wrong, "error: : the plugin id \"good\" is listed twice; \n");
}

static const int *counts_of(const struct graft_plugin_set *set) {
    return set->plugins[0].descriptor->get_extension("test.counts/1");
}

/* A plugin is started with the first set, stopped with the last, and stays mapped. */
static void test_shared_plugin(void **state) {
    static const struct graft_plugin_options idle = {.leave_idle = 1};
    char other_name[PATH_ROOM];
    (void)state;
    copy_plugin(folder, "good", "a.so");
    struct graft_plugin_set *looked_at = load(folder, &idle);
    const int *counts = counts_of(looked_at);
    assert_int_equal(counts[0], 0);
    struct graft_plugin_set *first = load(folder, NULL);
    set_path(other_name, "%s/.", folder);
    struct graft_plugin_set *second = load(other_name, NULL);
    assert_ptr_equal(counts_of(second), counts);
    assert_ptr_equal(first->plugins[0].descriptor, second->plugins[0].descriptor);
    assert_int_equal(counts[0], 1);
    graft_plugin_set_free(first);
    graft_plugin_set_free(looked_at);
    assert_int_equal(counts[1], 0);
    graft_plugin_set_free(second);
    assert_int_equal(counts[0], 1);
    assert_int_equal(counts[1], 1);
    graft_plugin_set_free(load(folder, NULL));
    assert_int_equal(counts[0], 2);
    assert_int_equal(counts[1], 2);
}

/* A refused plugin is unmapped, so a corrected one of the same name can be loaded. */
static void test_mended(void **state) {
    (void)state;
    copy_plugin(folder, "undefined_symbol", "a.so");
    struct graft_text report = {0};
    load_report(&report, folder, NULL);
    assert_memory_equal(report.bytes, "error: ", 7);
    graft_text_free(&report);
    remove_folder(folder);
    assert_int_equal(mkdir(folder, 0700), 0);
    copy_plugin(folder, "good", "a.so");
    expect_report(NULL, "plugins: 1\n");
}

/* The process may use libltdl itself: its objects are opened by its own loaders, lazily. */
static void test_libltdl_of_others(void **state) {
    char path[PATH_ROOM];
    (void)state;
    copy_plugin(folder, "good", "a.so");
    graft_plugin_set_free(load(folder, NULL));
    built_plugin(path, "undefined_symbol");
    assert_int_equal(lt_dlinit(), 0);
    lt_dlhandle handle = lt_dlopen(path);
    assert_non_null(handle);
    assert_int_equal(lt_dlclose(handle), 0);
    assert_int_equal(lt_dlexit(), 0);
    expect_report(NULL, "plugins: 1\n");
}

static void *load_and_free(void *data) {
    for (int i = 0; i < 50; i++) {
        struct graft_plugin_set *set = NULL;
        const char *directory = folder;
        if (graft_plugins_load(&directory, 1, NULL, &set, NULL) != GRAFT_OK || set->n != 1) {
            *(int *)data = 1;
        }
        graft_plugin_set_free(set);
    }
    return NULL;
}

static void test_threads(void **state) {
    pthread_t threads[4];
    int failed[4] = {0};
    (void)state;
    copy_plugin(folder, "good", "a.so");
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, load_and_free, &failed[i]), 0);
    }
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(failed[i], 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_same_id_twice, setup, teardown),
        cmocka_unit_test_setup_teardown(test_allow_list, setup, teardown),
        cmocka_unit_test_setup_teardown(test_rank_is_the_order_of_the_list, setup, teardown),
        cmocka_unit_test_setup_teardown(test_shared_plugin, setup, teardown),
        cmocka_unit_test_setup_teardown(test_mended, setup, teardown),
        cmocka_unit_test_setup_teardown(test_libltdl_of_others, setup, teardown),
        cmocka_unit_test_setup_teardown(test_threads, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

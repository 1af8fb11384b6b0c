/* SPDX-License-Identifier: Apache-2.0 */
/* Extensions that plugins offer each other, and the resulting order of starts and stops. */
#include "plugin_fixture.h"

#include "../plugins/diary.h"
#include "base/alloc.h"
#include "plugin/host_services.h"

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

static struct graft_plugin_set *load(const struct graft_plugin_options *options) {
    struct graft_error error = graft_error_none();
    struct graft_plugin_set *set = NULL;
    const char *directory = folder;
    int status = graft_plugins_load(&directory, 1, options, &set, &error);
    assert_string_equal(error.message, "");
    assert_int_equal(status, GRAFT_OK);
    return set;
}

static void expect_report(const struct graft_plugin_options *options, const char *expected) {
    struct graft_text report = {0};
    load_report(&report, folder, options);
    assert_string_equal(report.bytes, expected);
    graft_text_free(&report);
}

/* The diary that a plugin of the set received. */
static const struct diary *diary_of(const struct graft_plugin_set *set, const char *id) {
    for (size_t i = 0; i < set->n; i++) {
        if (strcmp(set->plugins[i].descriptor->id, id) == 0) {
            return set->plugins[i].descriptor->get_extension("test.diary/1");
        }
    }
    fail_msg("no plugin %s", id);
    return NULL;
}

/* By file names `asking` comes first; it is started last, and stopped first. */
static void test_order(void **state) {
    (void)state;
    copy_plugin(folder, "asking", "a.so");
    copy_plugin(folder, "offering", "b.so");
    struct graft_plugin_set *set = load(NULL);
    const struct graft_plugin *asking = set->plugins[0].descriptor;
    const struct diary *diary = diary_of(set, "asking");
    assert_string_equal(asking->id, "asking");
    assert_ptr_equal(diary, set->plugins[1].descriptor->get_extension(DIARY_ID));
    assert_null(graft_host_get()->get_plugin_extension(asking, "acme.more/1"));
    assert_null(graft_host_get()->get_plugin_extension(asking, "graft.log/1"));
    assert_null(graft_host_get()->get_plugin_extension(set->plugins[1].descriptor, DIARY_ID));
    graft_plugin_set_free(set);
    assert_string_equal(diary->text, "+offering +asking -asking -offering ");
    assert_null(graft_host_get()->get_plugin_extension(asking, DIARY_ID));
}

static void test_used_where_it_is_there(void **state) {
    (void)state;
    copy_plugin(folder, "asking", "a.so");
    copy_plugin(folder, "circle_more", "b.so");
    copy_plugin(folder, "offering", "c.so");
    struct graft_plugin_set *set = load(NULL);
    assert_string_equal(diary_of(set, "asking")->text, "+offering +asking(more) ");
    graft_plugin_set_free(set);
}

static void test_two_offer_it(void **state) {
    static const char *const ids[] = {"offering_twin", "asking", "offering"};
    static const struct graft_plugin_options ordered = {.allow = ids, .n_allow = 3};
    (void)state;
    copy_plugin(folder, "asking", "a.so");
    copy_plugin(folder, "offering", "b.so");
    copy_plugin(folder, "offering_twin", "c.so");
    expect_report(NULL, "error: DIR/c.so: offers_extensions[0]: \"acme.diary/1\" is also offered by DIR/b.so; load the "
                        "one that should win first, or leave one out\n");
    struct graft_plugin_set *set = load(&ordered);
    assert_string_equal(diary_of(set, "asking")->text, "+offering_twin +asking ");
    graft_plugin_set_free(set);
}

static void test_circle(void **state) {
    static const struct graft_plugin_options skip = {.skip_bad = 1};
    (void)state;
    copy_plugin(folder, "asking", "a.so");
    copy_plugin(folder, "offering", "b.so");
    copy_plugin(folder, "circle_more", "c.so");
    copy_plugin(folder, "circle_back", "d.so");
    expect_report(NULL, "error: DIR/d.so: cannot be started: it waits for \"acme.more/1\" of plugin circle_more, which "
                        "waits for this plugin; \n");
    struct graft_plugin_set *set = load(&skip);
    assert_int_equal(set->n, 3);
    assert_int_equal(set->n_notes, 1);
    assert_string_equal(diary_of(set, "asking")->text, "+offering +asking(more) ");
    graft_plugin_set_free(set);
}

/* A plugin that requires an extension of one that is left out is left out, too. */
static void test_skipped(void **state) {
    static const struct graft_plugin_options skip = {.skip_bad = 1};
    (void)state;
    copy_plugin(folder, "asking", "a.so");
    copy_plugin(folder, "offers_nothing", "b.so");
    copy_plugin(folder, "other", "c.so");
    expect_report(
        &skip, "note: DIR/b.so: skipped: get_extension: expected \"acme.diary/1\", which the plugin offers, got NULL\n"
               "note: DIR/a.so: skipped: requires_extensions[1]: no other loaded plugin offers \"acme.diary/1\"\n"
               "plugins: 1\n");
}

/* Inspecting a plugin starts nothing, and needs no other plugin. */
static void test_idle(void **state) {
    static const struct graft_plugin_options idle = {.leave_idle = 1};
    (void)state;
    copy_plugin(folder, "asking", "a.so");
    expect_report(&idle, "plugins: 1\n");
}

/* A plugin that a program registers finds extensions of plugins from files, which stay as long as it does. */
static void test_from_memory(void **state) {
    static const char *const required[] = {DIARY_ID, NULL};
    struct graft_plugin plugin = {GRAFT_PLUGIN_HEADER,
                                  .id = "program",
                                  .version = "1",
                                  .license = "Apache-2.0",
                                  .description = "A plugin of a program",
                                  .requires_extensions = required};
    struct graft_plugin_set *brought = NULL;
    struct graft_error error = graft_error_none();
    (void)state;
    copy_plugin(folder, "offering", "a.so");
    assert_int_equal(graft_plugins_take(&plugin, NULL, 0, &brought, &error), GRAFT_ERROR_PLUGIN);
    assert_string_equal(error.source, "program");
    struct graft_plugin_set *set = load(NULL);
    const struct graft_plugin_set *const others[] = {set};
    assert_int_equal(graft_plugins_take(&plugin, others, 1, &brought, NULL), GRAFT_OK);
    const struct diary *diary = graft_host_get()->get_plugin_extension(&plugin, DIARY_ID);
    graft_plugin_set_free(set);
    assert_string_equal(diary->text, "+offering ");
    graft_plugin_set_free(brought);
    assert_string_equal(diary->text, "+offering -offering ");
}

static void test_each_allocation(void **state) {
    long left = 0;
    (void)state;
    copy_plugin(folder, "asking", "a.so");
    copy_plugin(folder, "offering", "b.so");
    for (long n = 1; left == 0; n++) {
        struct graft_plugin_set *set = NULL;
        const char *directory = folder;
        (void)graft_alloc_fail_at(n);
        int status = graft_plugins_load(&directory, 1, NULL, &set, NULL);
        left = graft_alloc_fail_at(0);
        assert_int_equal(status, left == 0 && status != GRAFT_OK ? GRAFT_ERROR_INTERNAL : GRAFT_OK);
        graft_plugin_set_free(set);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_order, setup, teardown),
        cmocka_unit_test_setup_teardown(test_used_where_it_is_there, setup, teardown),
        cmocka_unit_test_setup_teardown(test_two_offer_it, setup, teardown),
        cmocka_unit_test_setup_teardown(test_circle, setup, teardown),
        cmocka_unit_test_setup_teardown(test_skipped, setup, teardown),
        cmocka_unit_test_setup_teardown(test_idle, setup, teardown),
        cmocka_unit_test_setup_teardown(test_from_memory, setup, teardown),
        cmocka_unit_test_setup_teardown(test_each_allocation, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

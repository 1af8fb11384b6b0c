/* SPDX-License-Identifier: Apache-2.0 */
/* Options of plugins that users set: the plugin `optioned`, whose id is "acme.optioned". */
#include "plugin_fixture.h"

#include "base/alloc.h"
#include "plugin/host_services.h"

static char folder[PATH_ROOM];

static int setup(void **state) {
    (void)state;
    make_folder(folder);
    copy_plugin(folder, "optioned", "optioned.so");
    copy_plugin(folder, "other", "other.so");
    return 0;
}

static int teardown(void **state) {
    (void)state;
    remove_folder(folder);
    return 0;
}

static int try_load(const char *const *given, int n, int leave_idle, struct graft_plugin_set **set,
                    struct graft_error *error) {
    const struct graft_plugin_options options = {.given = {given, n}, .leave_idle = leave_idle};
    const char *directory = folder;
    *error = graft_error_none();
    *set = NULL;
    return graft_plugins_load(&directory, 1, &options, set, error);
}

static struct graft_plugin_set *load(const char *const *given, int n) {
    struct graft_error error;
    struct graft_plugin_set *set;
    int status = try_load(given, n, 0, &set, &error);
    assert_string_equal(error.message, "");
    assert_int_equal(status, GRAFT_OK);
    return set;
}

/* The options that `optioned` read in `init` and `deinit`. */
static const char *told(const struct graft_plugin_set *set, const char *id) {
    return set->plugins[0].descriptor->get_extension(id);
}

static void test_defaults(void **state) {
    struct graft_plugin_set *set = load(NULL, 0);
    const struct graft_plugin *descriptor = set->plugins[0].descriptor;
    const char *stopped = told(set, "test.stopped/1");
    (void)state;
    assert_string_equal(told(set, "test.started/1"), "max 8 0.5 1");
    assert_string_equal(set->plugins[0].info.options[0], "max");
    assert_string_equal(set->plugins[0].info.options[2], "0.5");
    assert_string_equal(set->plugins[0].info.options[3], "true");
    assert_int_equal(graft_host_get()->options(set->plugins[1].descriptor)->count, 0);
    graft_plugin_set_free(set);
    assert_string_equal(stopped, "max 8 0.5 1");
    assert_null(graft_host_get()->options(descriptor));
}

static void test_given(void **state) {
    static const char *const given[] = {"acme.optioned.scale=mse", "acme.optioned.bits=-4", "acme.optioned.share=1e2",
                                        "acme.optioned.bias=false"};
    struct graft_plugin_set *set = load(given, 4);
    (void)state;
    assert_string_equal(told(set, "test.started/1"), "mse -4 100 0");
    assert_string_equal(set->plugins[0].info.options[2], "100.0");
    graft_plugin_set_free(set);
}

static void test_refused(void **state) {
    static const struct {
        const char *given[2];
        const char *message;
    } cases[] = {
        {{"acme.optioned.bits", NULL}, "expected ID.NAME=VALUE, got \"acme.optioned.bits\""},
        {{"bits=8", NULL}, "expected ID.NAME=VALUE, got \"bits=8\""},
        {{".bits=8", NULL}, "expected ID.NAME=VALUE, got \".bits=8\""},
        {{"acme.optioned.=8", NULL}, "expected ID.NAME=VALUE, got \"acme.optioned.=8\""},
        {{"acme.bits=8", NULL}, "no plugin \"acme\" is loaded; loaded: acme.optioned, other"},
        {{"optioned.bits=8", NULL}, "no plugin \"optioned\" is loaded; loaded: acme.optioned, other"},
        {{"acme.optioned.bit=8", NULL}, "plugin acme.optioned has no option \"bit\"; it has: scale, bits, share, bias"},
        {{"other.bits=8", NULL}, "plugin other has no option \"bits\"; it has: none"},
        {{"acme.optioned.bits=8.0", NULL}, "acme.optioned.bits: expected an integer, got \"8.0\""},
        {{"acme.optioned.bits=99999999999999999999", NULL},
         "acme.optioned.bits: expected an integer, got \"99999999999999999999\""},
        {{"acme.optioned.bits=", NULL}, "acme.optioned.bits: expected an integer, got \"\""},
        {{"acme.optioned.share=much", NULL}, "acme.optioned.share: expected a number, got \"much\""},
        {{"acme.optioned.share=1e999", NULL}, "acme.optioned.share: expected a number, got \"1e999\""},
        {{"acme.optioned.bias=1", NULL}, "acme.optioned.bias: expected true or false, got \"1\""},
        {{"acme.optioned.scale=min", NULL}, "acme.optioned.scale: expected one of max, mse, got \"min\""},
        {{"acme.optioned.bits=8", "acme.optioned.bits=8"}, "acme.optioned.bits is given twice"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct graft_error error;
        struct graft_plugin_set *set;
        int n = cases[i].given[1] != NULL ? 2 : 1;
        for (int leave_idle = 0; leave_idle < 2; leave_idle++) {
            assert_int_equal(try_load(cases[i].given, n, leave_idle, &set, &error), GRAFT_ERROR_USAGE);
            assert_string_equal(error.source, "plugin_options");
            assert_string_equal(error.message, cases[i].message);
        }
    }
}

/* Libraries of one process share a plugin, so the second library has to set the same options as the first. */
static void test_shared(void **state) {
    static const char *const first[] = {"acme.optioned.share=0.25"};
    static const char *const same[] = {"acme.optioned.share=25e-2"};
    struct graft_plugin_set *set = load(first, 1);
    struct graft_plugin_set *again = load(same, 1);
    struct graft_plugin_set *idle, *refused;
    struct graft_error error;
    char wanted[PATH_ROOM];
    (void)state;
    assert_int_equal(try_load(NULL, 0, 1, &idle, &error), GRAFT_OK);
    assert_string_equal(idle->plugins[0].info.options[2], "0.5");
    assert_int_equal(try_load(NULL, 0, 0, &refused, &error), GRAFT_ERROR_USAGE);
    set_path(wanted, "%s/optioned.so", folder);
    assert_string_equal(error.source, wanted);
    assert_string_equal(error.message, "option share: another library in this process set it to 0.25, this one to 0.5");
    graft_plugin_set_free(set);
    graft_plugin_set_free(again);
    graft_plugin_set_free(idle);
    set = load(NULL, 0);
    assert_string_equal(told(set, "test.started/1"), "max 8 0.5 1");
    graft_plugin_set_free(set);
}

/* An `init` that refused its options leaves nothing behind. */
static void test_refused_by_the_plugin(void **state) {
    static const char *const given[] = {"acme.optioned.bits=13"};
    struct graft_plugin_set *idle, *set;
    struct graft_error error;
    (void)state;
    assert_int_equal(try_load(NULL, 0, 1, &idle, &error), GRAFT_OK);
    assert_int_equal(try_load(given, 1, 0, &set, &error), GRAFT_ERROR_PLUGIN);
    assert_null(graft_host_get()->options(idle->plugins[0].descriptor));
    set = load(NULL, 0);
    graft_plugin_set_free(set);
    graft_plugin_set_free(idle);
}

static void test_each_allocation(void **state) {
    static const char *const given[] = {"acme.optioned.scale=mse", "acme.optioned.bits=13"};
    long left = 0;
    (void)state;
    for (long n = 1; left == 0; n++) {
        struct graft_plugin_set *set;
        struct graft_error error;
        (void)graft_alloc_fail_at(n);
        int status = try_load(given, 2, 0, &set, &error);
        left = graft_alloc_fail_at(0);
        assert_int_equal(status, left == 0 && status != GRAFT_OK ? GRAFT_ERROR_INTERNAL : GRAFT_OK);
        graft_plugin_set_free(set);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_defaults, setup, teardown),
        cmocka_unit_test_setup_teardown(test_given, setup, teardown),
        cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(test_shared, setup, teardown),
        cmocka_unit_test_setup_teardown(test_refused_by_the_plugin, setup, teardown),
        cmocka_unit_test_setup_teardown(test_each_allocation, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Which family of a model type is used, and which class a name means. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "graft/mlp.h"
#include "registry/families.h"

#define CLASS(class_name) \
    { .struct_size = sizeof(struct graft_class), .name = (class_name), .interface_id = GRAFT_INTERFACE_MLP }

static const struct graft_class host_classes[] = {CLASS("SharedMLP"), CLASS("HostMLP")};
static const struct graft_class classes_of_a[] = {CLASS("SharedMLP"), CLASS("MLPOfA")};
static const struct graft_class classes_of_b[] = {CLASS("MLPOfA"), CLASS("MLPOfB")};
static const struct graft_architecture architectures[] = {{"AForCausalLM", NULL}, {"AForPreTraining", "AForCausalLM"}};

static struct graft_family family_of(const char *model_type, const struct graft_class *classes) {
    return (struct graft_family){
        .struct_size = sizeof(struct graft_family),
        .model_type = model_type,
        .architectures = architectures,
        .n_architectures = 2,
        .architecture_stride = sizeof architectures[0],
        .classes = classes,
        .n_classes = classes != NULL ? 2 : 0,
        .class_stride = sizeof *classes,
    };
}

static struct graft_family host_family, family_a, family_b;
static struct graft_plugin plugin_a, plugin_b;
static struct graft_registry *registry;
static struct graft_snapshot *snapshot;
static struct graft_error error;

static struct graft_plugin plugin_of(const char *id, const struct graft_family *family) {
    return (struct graft_plugin){GRAFT_PLUGIN_HEADER, .id = id, .families = family, .n_families = 1,
                                 .family_stride = sizeof *family};
}

static int set_up(void **state) {
    (void)state;
    error = graft_error_none();
    host_family = family_of("host", host_classes);
    family_a = family_of("new", classes_of_a);
    family_b = family_of("new", NULL);
    plugin_a = plugin_of("a", &family_a);
    plugin_b = plugin_of("b", &family_b);
    registry = graft_registry_create(NULL);
    assert_int_equal(graft_registry_add_family(registry, &host_family, &error), GRAFT_OK);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    graft_snapshot_release(snapshot);
    snapshot = NULL;
    graft_registry_free(registry);
    return 0;
}

static int add(const struct graft_plugin *plugin, const char *file, int32_t rank) {
    const struct graft_known_plugin added = {plugin, {plugin->id, file, rank}, NULL};
    int status = graft_registry_add_plugins(registry, &added, 1, &error);
    graft_snapshot_release(snapshot);
    snapshot = graft_registry_snapshot(registry);
    return status;
}

/* The plugin that provides the family of that type; "" is the host. */
static const char *bringer(const char *model_type) {
    const struct graft_known_family *known = graft_snapshot_family(snapshot, model_type);
    return known == NULL ? NULL : known->origin.plugin != NULL ? known->origin.plugin : "";
}

static void test_found(void **state) {
    (void)state;
    assert_int_equal(add(&plugin_a, "a.so", 0), GRAFT_OK);
    assert_string_equal(bringer("new"), "a");
    assert_string_equal(bringer("host"), "");
    assert_null(bringer("other"));
    const struct graft_known_family *known = graft_snapshot_family(snapshot, "new");
    assert_int_equal(graft_snapshot_check_family(snapshot, known, &error), GRAFT_OK);
    assert_string_equal(graft_family_root(known->family, NULL), "AForCausalLM");
    assert_string_equal(graft_family_root(known->family, "AForPreTraining"), "AForCausalLM");
    assert_null(graft_family_root(known->family, "LlamaForCausalLM"));
    assert_int_equal(graft_snapshot_fail_family(snapshot, "config.json", "other", &error), GRAFT_ERROR_MODEL);
    assert_string_equal(error.message, "model_type: \"other\" is not known");
    assert_non_null(strstr(error.hint, "graft/family.h"));
}

/* Without an order two families of a type are an error. */
static void test_two_without_order(void **state) {
    (void)state;
    assert_int_equal(add(&plugin_a, "a.so", 0), GRAFT_OK);
    assert_int_equal(add(&plugin_b, "b.so", 0), GRAFT_OK);
    const struct graft_known_family *known = graft_snapshot_family(snapshot, "new");
    assert_int_equal(graft_snapshot_check_family(snapshot, known, &error), GRAFT_ERROR_PLUGIN);
    assert_string_equal(error.source, "new");
    assert_string_equal(error.message, "plugins a and b both bring this model type");
}

static void test_two_in_order(void **state) {
    (void)state;
    assert_int_equal(add(&plugin_a, "a.so", 2), GRAFT_OK);
    assert_int_equal(add(&plugin_b, "b.so", 1), GRAFT_OK);
    assert_string_equal(bringer("new"), "b");
    const struct graft_known_family *known = graft_snapshot_family(snapshot, "new");
    assert_int_equal(graft_snapshot_check_family(snapshot, known, &error), GRAFT_OK);
}

/* Families that a program registers come before those of files, the first before the second. */
static void test_by_call(void **state) {
    (void)state;
    assert_int_equal(add(&plugin_a, "a.so", 0), GRAFT_OK);
    assert_int_equal(add(&plugin_b, NULL, 0), GRAFT_OK);
    assert_string_equal(bringer("new"), "b");
    struct graft_plugin plugin_c = plugin_of("c", &family_b);
    assert_int_equal(add(&plugin_c, NULL, 0), GRAFT_OK);
    assert_string_equal(bringer("new"), "b");
}

/* The host's family comes before one of a plugin that was not chosen by the user. */
static void test_replacing_the_host(void **state) {
    (void)state;
    family_a.model_type = family_b.model_type = "host";
    assert_int_equal(add(&plugin_a, "a.so", 0), GRAFT_OK);
    assert_string_equal(bringer("host"), "");
    const struct graft_known_family *known = graft_snapshot_family(snapshot, "host");
    assert_int_equal(graft_snapshot_check_family(snapshot, known, &error), GRAFT_OK);
    assert_int_equal(add(&plugin_b, "b.so", 1), GRAFT_OK);
    assert_string_equal(bringer("host"), "b");
}

/* A class gets a class of its own plugin first, then the host's. */
static void test_classes(void **state) {
    (void)state;
    assert_int_equal(add(&plugin_a, "a.so", 0), GRAFT_OK);
    assert_ptr_equal(graft_snapshot_class(snapshot, "SharedMLP", "a")->cls, &classes_of_a[0]);
    assert_ptr_equal(graft_snapshot_class(snapshot, "SharedMLP", "b")->cls, &host_classes[0]);
    assert_ptr_equal(graft_snapshot_class(snapshot, "SharedMLP", NULL)->cls, &host_classes[0]);
    assert_ptr_equal(graft_snapshot_class(snapshot, "MLPOfA", NULL)->cls, &classes_of_a[1]);
    assert_int_equal(graft_snapshot_class(snapshot, "MLPOfA", NULL)->private_to_plugin, 0);
}

static void test_classes_of_one_name(void **state) {
    (void)state;
    family_b = family_of("newer", classes_of_b);
    assert_int_equal(add(&plugin_a, "a.so", 0), GRAFT_OK);
    assert_int_equal(add(&plugin_b, "b.so", 0), GRAFT_ERROR_PLUGIN);
    assert_string_equal(error.source, "b.so");
    assert_string_equal(error.message, "class MLPOfA: there is already one with that name in a.so");
    assert_string_equal(error.hint, "load the one that should win first, or leave one out");
    assert_null(bringer("newer"));
}

static void test_classes_of_one_name_in_order(void **state) {
    (void)state;
    family_b = family_of("newer", classes_of_b);
    assert_int_equal(add(&plugin_a, "a.so", 2), GRAFT_OK);
    assert_int_equal(add(&plugin_b, "b.so", 1), GRAFT_OK);
    assert_ptr_equal(graft_snapshot_class(snapshot, "MLPOfA", NULL)->cls, &classes_of_b[0]);
    assert_ptr_equal(graft_snapshot_class(snapshot, "MLPOfA", "a")->cls, &classes_of_a[1]);
}

/* Every allocation fails in turn: nothing is registered then. */
static void test_out_of_memory(void **state) {
    (void)state;
    for (long i = 1, failed = 1; failed; i++) {
        const struct graft_known_plugin added = {&plugin_a, {"a", "a.so", 0}, NULL};
        (void)graft_alloc_fail_at(i);
        failed = graft_registry_add_plugins(registry, &added, 1, &error) != GRAFT_OK;
        (void)graft_alloc_fail_at(0);
        graft_snapshot_release(snapshot);
        snapshot = graft_registry_snapshot(registry);
        assert_int_equal(bringer("new") == NULL, failed);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_found, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_two_without_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_two_in_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_by_call, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_replacing_the_host, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_classes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_classes_of_one_name, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_classes_of_one_name_in_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_out_of_memory, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

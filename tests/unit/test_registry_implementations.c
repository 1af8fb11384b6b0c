/* SPDX-License-Identifier: Apache-2.0 */
/* Implementations chosen by name: duplicate names, unknown names, kernels as replacements of one model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

#include "../plugins/parts.h"
#include "registry/implementations.h"

static int forward(const struct graft_attention_implementation *self, const struct graft_call *call,
                   const struct graft_attention_input *input, struct graft_error *error) {
    (void)self, (void)call, (void)input, (void)error;
    return GRAFT_OK;
}

static const struct graft_attention_implementation flash = {
    .struct_size = sizeof flash, .name = "flash", .masks = GRAFT_ATTENTION_MASK_CAUSAL, .forward = forward};
static const struct graft_attention_implementation usual = {
    .struct_size = sizeof usual, .name = "usual", .masks = GRAFT_ATTENTION_MASK_CAUSAL, .forward = forward};

struct fixture {
    struct graft_class classes[2];
    struct graft_replacement replacements[2];
    struct graft_kernel_override kernels[2];
    struct graft_plugin plugin;
};

/* A plugin with an attention, and kernels called "fast" for two classes. */
static void fixture_init(struct fixture *f, const char *id, const struct graft_attention_implementation *attention,
                         const char *kernel) {
    static const char *const targets[] = {"Linear", "Other"};
    f->plugin = good_plugin(id, NULL, 0);
    f->plugin.attention_implementations = attention;
    f->plugin.n_attention_implementations = attention != NULL;
    f->plugin.attention_implementation_stride = sizeof *attention;
    f->plugin.kernels = f->kernels;
    f->plugin.n_kernels = kernel != NULL ? 2 : 0;
    f->plugin.kernel_stride = sizeof f->kernels[0];
    for (int i = 0; i < 2; i++) {
        f->classes[i] = good_class(NULL, 0);
        f->classes[i].describe = NULL;
        f->replacements[i] = good_replacement(&f->classes[i]);
        f->replacements[i].target = targets[i];
        f->kernels[i] = (struct graft_kernel_override){sizeof f->kernels[i], 0, kernel, &f->replacements[i]};
    }
}

static int add(struct graft_registry *registry, const struct fixture *f, struct graft_error *error) {
    const struct graft_known_plugin added = {&f->plugin, {f->plugin.id, f->plugin.id, 0}, NULL};
    return graft_registry_add_plugins(registry, &added, 1, error);
}

static void refused(struct graft_registry *registry, const struct fixture *f, const char *source, const char *message) {
    struct graft_error error = graft_error_none();
    struct graft_snapshot *before = graft_registry_snapshot(registry);
    assert_int_equal(add(registry, f, &error), GRAFT_ERROR_PLUGIN);
    assert_string_equal(error.source, source);
    assert_non_null(strstr(error.message, message));
    struct graft_snapshot *after = graft_registry_snapshot(registry);
    assert_ptr_equal(before, after);
    graft_snapshot_release(before);
    graft_snapshot_release(after);
}

static void test_taken_names(void **state) {
    struct graft_registry *registry = graft_registry_create(NULL);
    struct graft_error error = graft_error_none();
    struct fixture one, two, three, four;
    (void)state;
    fixture_init(&one, "one", &flash, "fast");
    fixture_init(&two, "two", &flash, NULL);
    fixture_init(&three, "three", &usual, NULL);
    fixture_init(&four, "four", NULL, "fast");
    assert_int_equal(
        graft_registry_add_implementation(registry, GRAFT_IMPLEMENTATION_ATTENTION, usual.name, &usual, NULL, &error),
        GRAFT_OK);
    assert_int_equal(add(registry, &one, &error), GRAFT_OK);
    refused(registry, &two, "two", "attention implementation \"flash\": there is already one with that name in one");
    refused(registry, &three, "three",
            "attention implementation \"usual\": there is already one with that name in the host");
    refused(registry, &four, "four", "kernel \"fast\": there is already one with that name in one");
    graft_registry_free(registry);
}

static void test_unknown_names(void **state) {
    struct graft_registry *registry = graft_registry_create(NULL);
    struct graft_error error = graft_error_none();
    const struct graft_implementation *offer = NULL;
    struct fixture one;
    (void)state;
    fixture_init(&one, "one", &flash, "fast");
    assert_int_equal(
        graft_registry_add_implementation(registry, GRAFT_IMPLEMENTATION_ATTENTION, usual.name, &usual, NULL, &error),
        GRAFT_OK);
    assert_int_equal(add(registry, &one, &error), GRAFT_OK);
    struct graft_snapshot *snapshot = graft_registry_snapshot(registry);
    assert_int_equal(
        graft_snapshot_implementation(snapshot, GRAFT_IMPLEMENTATION_ATTENTION, "flush", "--x", &offer, &error),
        GRAFT_ERROR_USAGE);
    assert_string_equal(error.source, "--x");
    assert_string_equal(error.message, "there is no attention implementation \"flush\"; known: usual, flash");
    error = graft_error_none();
    assert_int_equal(
        graft_snapshot_implementation(snapshot, GRAFT_IMPLEMENTATION_EXPERTS, "flash", "--x", &offer, &error),
        GRAFT_ERROR_USAGE);
    assert_non_null(strstr(error.message, "known: none"));
    assert_int_equal(
        graft_snapshot_implementation(snapshot, GRAFT_IMPLEMENTATION_ATTENTION, "flash", "--x", &offer, NULL),
        GRAFT_OK);
    assert_ptr_equal(offer->declared, &flash);
    assert_string_equal(offer->origin.plugin, "one");
    graft_snapshot_release(snapshot);
    graft_registry_free(registry);
}

/* A kernel belongs to one snapshot; naming it twice is the same as once. */
static void test_kernels(void **state) {
    static const char *const names[] = {"fast", "fast"};
    static const char *const wrong[] = {"fast", "slow"};
    struct graft_registry *registry = graft_registry_create(NULL);
    struct graft_error error = graft_error_none();
    struct graft_snapshot *with = NULL;
    struct graft_origin origin;
    struct fixture one;
    (void)state;
    fixture_init(&one, "one", NULL, "fast");
    assert_int_equal(add(registry, &one, &error), GRAFT_OK);
    struct graft_snapshot *snapshot = graft_registry_snapshot(registry);
    assert_int_equal(graft_snapshot_with_kernels(snapshot, wrong, 2, &with, &error), GRAFT_ERROR_USAGE);
    assert_null(with);
    assert_int_equal(graft_snapshot_with_kernels(snapshot, names, 2, &with, &error), GRAFT_OK);
    assert_null(graft_snapshot_replacement(snapshot, 0, &origin));
    assert_ptr_equal(graft_snapshot_replacement(with, 0, &origin), &one.replacements[0]);
    assert_ptr_equal(graft_snapshot_replacement(with, 1, &origin), &one.replacements[1]);
    assert_null(graft_snapshot_replacement(with, 2, &origin));
    assert_string_equal(graft_snapshot_kernel_of(with, &one.classes[1])->name, "fast");
    assert_null(graft_snapshot_kernel_of(with, NULL));
    graft_snapshot_release(with);
    graft_snapshot_release(snapshot);
    graft_registry_free(registry);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_taken_names), cmocka_unit_test(test_unknown_names),
                                       cmocka_unit_test(test_kernels)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The library's own families, each read when it is needed, without the others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "registry/built_in.h"

static struct graft_built_in *make(void) {
    struct graft_built_in *built_in = NULL;
    assert_int_equal(graft_built_in_create(&built_in, NULL), GRAFT_OK);
    return built_in;
}

static const struct graft_known_class *class_at(const struct graft_built_in *built_in, size_t i) {
    return graft_built_in_class_at(built_in, &i);
}

static const struct graft_known_family *family_at(const struct graft_built_in *built_in, size_t i) {
    return graft_built_in_family_at(built_in, &i);
}

static struct graft_built_in *read_all(void) {
    struct graft_built_in *all = make();
    assert_int_equal(graft_built_in_read_all(all, NULL), GRAFT_OK);
    return all;
}

/* Finds each family by the index alone; no two have the same name. */
static void test_each_class(void **state) {
    struct graft_built_in *all = read_all();
    const struct graft_known_class *wanted, *known;
    (void)state;
    for (size_t i = 0; (wanted = class_at(all, i)) != NULL; i++) {
        struct graft_built_in *fresh = make();
        assert_int_equal(graft_built_in_find_class(fresh, wanted->cls->name, &known, NULL), GRAFT_OK);
        if (known == NULL) {
            fail_msg("%s is not found", wanted->cls->name);
        }
        assert_string_equal(known->cls->name, wanted->cls->name);
        assert_string_equal(known->cls->interface_id, wanted->cls->interface_id);
        assert_int_equal(graft_built_in_find_class(all, wanted->cls->name, &known, NULL), GRAFT_OK);
        assert_ptr_equal(known, wanted);
        graft_built_in_free(fresh);
    }
    graft_built_in_free(all);
}

static void test_each_family(void **state) {
    struct graft_built_in *all = read_all();
    const struct graft_known_family *wanted, *known, *again;
    (void)state;
    for (size_t i = 0; (wanted = family_at(all, i)) != NULL; i++) {
        struct graft_built_in *fresh = make();
        assert_int_equal(graft_built_in_find_family(fresh, wanted->family->model_type, &known, NULL), GRAFT_OK);
        assert_non_null(known);
        assert_string_equal(known->family->model_type, wanted->family->model_type);
        assert_int_equal(known->family->n_classes, wanted->family->n_classes);
        assert_int_equal(graft_built_in_find_family(fresh, wanted->family->model_type, &again, NULL), GRAFT_OK);
        assert_ptr_equal(again, known);
        graft_built_in_free(fresh);
    }
    graft_built_in_free(all);
}

static void test_unknown(void **state) {
    struct graft_built_in *built_in = make();
    const struct graft_known_family *family;
    const struct graft_known_class *cls;
    static const struct graft_class other = {.name = "LlamaMLP"};
    (void)state;
    assert_int_equal(graft_built_in_find_family(built_in, "none", &family, NULL), GRAFT_OK);
    assert_null(family);
    assert_int_equal(graft_built_in_find_class(built_in, "LlamaNone", &cls, NULL), GRAFT_OK);
    assert_null(cls);
    assert_int_equal(graft_built_in_find_class(built_in, "LlamaMLP", &cls, NULL), GRAFT_OK);
    assert_true(graft_built_in_has(built_in, cls->cls));
    assert_false(graft_built_in_has(built_in, &other));
    graft_built_in_free(built_in);
}

/* Reading while each allocation fails in turn is an error, and then succeeds. */
static void test_each_allocation(void **state) {
    struct graft_built_in *built_in = make();
    const struct graft_known_family *known = NULL;
    (void)state;
    for (long n = 1, left = 0; left == 0; n++) {
        struct graft_error error = graft_error_none();
        graft_built_in_free(n % 16 == 0 ? built_in : NULL);
        built_in = n % 16 == 0 ? make() : built_in;
        (void)graft_alloc_fail_at(n);
        int status = graft_built_in_find_family(built_in, "qwen3_moe", &known, &error);
        left = graft_alloc_fail_at(0);
        assert_int_equal(error.code, status);
        assert_true(status == GRAFT_OK || status == GRAFT_ERROR_INTERNAL);
        assert_int_equal(known != NULL, status == GRAFT_OK);
    }
    assert_non_null(known);
    graft_built_in_free(built_in);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_class),
        cmocka_unit_test(test_each_family),
        cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_each_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

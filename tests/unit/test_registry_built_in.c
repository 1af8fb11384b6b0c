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
    assert_int_equal(graft_built_in_hold(&built_in, NULL), GRAFT_OK);
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

/* Copies of the names of all families or classes, with a number that goes with each. Nobody holds the families
 * afterwards, so that each test below begins without a file read. */
struct names {
    struct {
        char *name;
        int64_t number;
    } items[8192];
    size_t n;
};

static void add(struct names *names, const char *name, int64_t number) {
    assert_true(names->n < sizeof names->items / sizeof names->items[0]);
    names->items[names->n].name = graft_strdup(name);
    names->items[names->n++].number = number;
}

static void clear(struct names *names) {
    while (names->n > 0) {
        graft_free(names->items[--names->n].name);
    }
}

/* Each class is found by its name alone. */
static void test_each_class(void **state) {
    static struct names names;
    struct graft_built_in *all = read_all();
    const struct graft_known_class *known;
    (void)state;
    for (size_t i = 0; (known = class_at(all, i)) != NULL; i++) {
        add(&names, known->cls->name, known->cls->flags);
    }
    graft_built_in_release(all);
    assert_true(names.n > 500);
    for (size_t i = 0; i < names.n; i++) {
        struct graft_built_in *fresh = make();
        assert_int_equal(graft_built_in_find_class(fresh, names.items[i].name, &known, NULL), GRAFT_OK);
        if (known == NULL) {
            fail_msg("%s is not found", names.items[i].name);
        }
        assert_string_equal(known->cls->name, names.items[i].name);
        assert_int_equal(known->cls->flags, names.items[i].number);
        graft_built_in_release(fresh);
    }
    clear(&names);
}

/* No two classes have the same name: each name finds the class that has it. */
static void test_names(void **state) {
    struct graft_built_in *all = read_all();
    const struct graft_known_class *wanted, *known;
    (void)state;
    for (size_t i = 0; (wanted = class_at(all, i)) != NULL; i++) {
        assert_int_equal(graft_built_in_find_class(all, wanted->cls->name, &known, NULL), GRAFT_OK);
        assert_ptr_equal(known, wanted);
    }
    graft_built_in_release(all);
}

/* Each family is found by its model type alone. */
static void test_each_family(void **state) {
    static struct names names;
    struct graft_built_in *all = read_all();
    const struct graft_known_family *known, *again;
    (void)state;
    for (size_t i = 0; (known = family_at(all, i)) != NULL; i++) {
        add(&names, known->family->model_type, known->family->n_classes);
    }
    graft_built_in_release(all);
    assert_true(names.n > 100);
    for (size_t i = 0; i < names.n; i++) {
        struct graft_built_in *fresh = make();
        assert_int_equal(graft_built_in_find_family(fresh, names.items[i].name, &known, NULL), GRAFT_OK);
        assert_non_null(known);
        assert_string_equal(known->family->model_type, names.items[i].name);
        assert_int_equal(known->family->n_classes, names.items[i].number);
        assert_int_equal(graft_built_in_find_family(fresh, names.items[i].name, &again, NULL), GRAFT_OK);
        assert_ptr_equal(again, known);
        graft_built_in_release(fresh);
    }
    clear(&names);
}

/* Holders share what was read, and the last to release frees it. */
static void test_shared(void **state) {
    struct graft_built_in *one = make(), *other = make();
    const struct graft_known_family *known, *again;
    (void)state;
    assert_int_equal(graft_built_in_find_family(one, "llama", &known, NULL), GRAFT_OK);
    graft_built_in_release(one);
    assert_int_equal(graft_built_in_find_family(other, "llama", &again, NULL), GRAFT_OK);
    assert_ptr_equal(again, known);
    assert_string_equal(again->family->model_type, "llama");
    graft_built_in_release(other);
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
    graft_built_in_release(built_in);
}

/* Reading while each allocation fails in turn is an error, and then succeeds. */
static void test_each_allocation(void **state) {
    struct graft_built_in *built_in = make();
    const struct graft_known_family *known = NULL;
    (void)state;
    for (long n = 1, left = 0; left == 0; n++) {
        struct graft_error error = graft_error_none();
        graft_built_in_release(n % 16 == 0 ? built_in : NULL);
        built_in = n % 16 == 0 ? make() : built_in;
        (void)graft_alloc_fail_at(n);
        int status = graft_built_in_find_family(built_in, "qwen3_moe", &known, &error);
        left = graft_alloc_fail_at(0);
        assert_int_equal(error.code, status);
        assert_true(status == GRAFT_OK || status == GRAFT_ERROR_INTERNAL);
        assert_int_equal(known != NULL, status == GRAFT_OK);
    }
    assert_non_null(known);
    graft_built_in_release(built_in);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_class), cmocka_unit_test(test_names),   cmocka_unit_test(test_each_family),
        cmocka_unit_test(test_shared),     cmocka_unit_test(test_unknown), cmocka_unit_test(test_each_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

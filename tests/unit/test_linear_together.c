/* SPDX-License-Identifier: Apache-2.0 */
/* graft_linear_forward_all: modules that are products run together in one call; others run before them one by one, as
 * do products beyond the limit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "graft/linear.h"

enum { MODULES = GRAFT_LINEAR_ALL + 3 };

/* --- A host that counts its products --- */

static int32_t calls, counts[MODULES]; /* of products: how often, and how many at a time */
static int32_t n_forwards;             /* of modules, one by one */
static int fails;                      /* products do */

static int linear(const struct graft_call *call, const struct graft_product *products, int32_t n, uint32_t stride,
                  struct graft_error *error) {
    (void)call;
    counts[calls++] = n;
    for (int32_t i = 0; i < n; i++) {
        const void *at = (const char *)products + (size_t)i * stride;
        *((const struct graft_product *)at)->y += 1.0F;
    }
    return fails ? graft_error_set(error, GRAFT_ERROR_MODEL, "", "products fail") : GRAFT_OK;
}

static int64_t mark(const struct graft_scratch *scratch) {
    (void)scratch;
    return 0;
}

static void release(struct graft_scratch *scratch, int64_t at) {
    (void)scratch;
    (void)at;
}

static const struct graft_kernels kernels = {.struct_size = sizeof kernels, .linear = linear};
static const struct graft_call call = {
    .struct_size = sizeof call, .kernels = &kernels, .scratch_mark = mark, .scratch_release = release};

/* --- A Linear that is a product, or not --- */

enum { IS_PRODUCT = 0, IS_APART = 1, IS_FAULTY = 2 };

static int32_t as_product(void *instance, const struct graft_linear_args *args, struct graft_product *product) {
    assert_int_equal(product->struct_size, sizeof *product);
    assert_null(product->weight);
    product->y = args->y;
    return *(const int *)instance == IS_PRODUCT;
}

static int forward(void *instance, const struct graft_call *given, const struct graft_linear_args *args,
                   struct graft_error *error) {
    (void)given;
    n_forwards++;
    *args->y += 16.0F;
    return *(const int *)instance == IS_FAULTY ? graft_error_set(error, GRAFT_ERROR_PLUGIN, "", "a module fails")
                                               : GRAFT_OK;
}

static const struct graft_linear vtable = {
    .struct_size = sizeof vtable, .features = 1, .forward = forward, .as_product = as_product};
/* The vtable of a class without that slot. */
static const struct graft_linear no_product = {.struct_size = sizeof no_product, .features = 1, .forward = forward};
/* The vtable of a class that was built before the slot existed: the following bytes are not part of it. */
static const struct graft_linear smaller = {.struct_size = offsetof(struct graft_linear, as_product),
                                            .features = 1,
                                            .forward = forward,
                                            .as_product = as_product};

static int kinds[MODULES];
static struct graft_module modules[MODULES];
static const struct graft_module *pointers[MODULES];
static struct graft_linear_args args[MODULES];
static float y[MODULES];

static void make(int32_t n, const int *wanted) {
    calls = n_forwards = fails = 0;
    memset(y, 0, sizeof y);
    for (int32_t i = 0; i < n; i++) {
        kinds[i] = wanted[i];
        modules[i] = (struct graft_module){.struct_size = sizeof modules[i], .instance = &kinds[i], .forward = &vtable};
        pointers[i] = &modules[i];
        args[i] = (struct graft_linear_args){.struct_size = sizeof args[i], .tokens = 1, .y = &y[i]};
    }
}

static int run(int32_t n, struct graft_error *error) {
    return graft_linear_forward_all(pointers, &call, args, n, error);
}

static void test_together(void **state) {
    static const int wanted[] = {IS_PRODUCT, IS_APART, IS_PRODUCT, IS_PRODUCT};
    (void)state;
    make(4, wanted);
    assert_int_equal(run(4, NULL), GRAFT_OK);
    assert_int_equal(calls, 1);
    assert_int_equal(counts[0], 3);
    assert_int_equal(n_forwards, 1);
    for (int32_t i = 0; i < 4; i++) {
        assert_true(y[i] == (wanted[i] == IS_PRODUCT ? 1.0F : 16.0F));
    }
}

/* More modules than the limit. */
static void test_many(void **state) {
    static const int wanted[MODULES] = {IS_PRODUCT};
    (void)state;
    make(MODULES, wanted);
    assert_int_equal(run(MODULES, NULL), GRAFT_OK);
    assert_int_equal(calls, 1);
    assert_int_equal(counts[0], GRAFT_LINEAR_ALL);
    assert_int_equal(n_forwards, MODULES - GRAFT_LINEAR_ALL);
    for (int32_t i = 0; i < MODULES; i++) {
        assert_true(y[i] == (i < GRAFT_LINEAR_ALL ? 1.0F : 16.0F));
    }
}

/* Classes that are no products, and calls with features that those do not support. */
static void test_no_product(void **state) {
    static const int wanted[] = {IS_PRODUCT, IS_PRODUCT, IS_PRODUCT};
    (void)state;
    make(3, wanted);
    modules[0].forward = &no_product;
    modules[1].forward = &smaller;
    args[2].required_features = 1;
    assert_int_equal(run(3, NULL), GRAFT_OK);
    assert_int_equal(n_forwards, 2);
    assert_int_equal(counts[0], 1);
    assert_true(y[0] == 16.0F && y[1] == 16.0F && y[2] == 1.0F);
    make(2, wanted);
    args[1].required_features = 2;
    assert_int_equal(run(2, NULL), GRAFT_ERROR_PLUGIN);
    assert_int_equal(calls, 0);
    assert_int_equal(n_forwards, 0);
    assert_int_equal(run(0, NULL), GRAFT_OK);
    assert_int_equal(calls, 0);
}

/* Nothing runs after a failure, whose status is the call's. */
static void test_faults(void **state) {
    static const int wanted[] = {IS_PRODUCT, IS_FAULTY, IS_APART};
    struct graft_error error = graft_error_none();
    (void)state;
    make(3, wanted);
    assert_int_equal(run(3, &error), GRAFT_ERROR_PLUGIN);
    assert_string_equal(error.message, "a module fails");
    assert_int_equal(calls, 0);
    assert_int_equal(n_forwards, 1);
    make(1, wanted);
    fails = 1;
    error = graft_error_none();
    assert_int_equal(run(1, &error), GRAFT_ERROR_MODEL);
    assert_string_equal(error.message, "products fail");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_together), cmocka_unit_test(test_many),
                                       cmocka_unit_test(test_no_product), cmocka_unit_test(test_faults)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* graft_linear_forward_all: products that loops need run before all loops, those of several modules together; and who
 * was built when a loop had fewer fields gets no more than those. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "graft/linear.h"

enum { MODULES = 8, MANY = 5, UNTOUCHED = 0x5a };

/* --- A host whose products count themselves --- */

static int32_t calls, counts[MODULES]; /* of products: how often, and how many at a time */

static int linear(const struct graft_call *call, const struct graft_product *products, int32_t n, uint32_t stride,
                  struct graft_error *error) {
    (void)call, (void)error;
    counts[calls++] = n;
    for (int32_t i = 0; i < n; i++) {
        const void *at = (const char *)products + (size_t)i * stride;
        *((const struct graft_product *)at)->y += 1.0F;
    }
    return GRAFT_OK;
}

static void backwards(int64_t items, int64_t grain, graft_parallel_body body, void *data) {
    (void)grain;
    while (items-- > 0) {
        body(data, items, items + 1);
    }
}

static int64_t mark(const struct graft_scratch *scratch) {
    (void)scratch;
    return 0;
}

static void release(struct graft_scratch *scratch, int64_t at) {
    (void)scratch, (void)at;
}

static const struct graft_kernels kernels = {.struct_size = sizeof kernels, .linear = linear};
static const struct graft_threads threads = {.struct_size = sizeof threads, .parallel_for = backwards};
static const struct graft_call call = {.struct_size = sizeof call,
                                       .kernels = &kernels,
                                       .threads = &threads,
                                       .scratch_mark = mark,
                                       .scratch_release = release};

/* --- A Linear whose loop needs some products; or that is one itself --- */

/* As a plugin of a later version would have them. */
struct larger_product {
    struct graft_product product;
    int64_t more;
};

struct staged {
    int32_t n; /* products that its loop needs; 0: it is a product itself */
    float results[MANY];
    struct larger_product products[MANY];
    float *y;
};

static void sum(void *data, int64_t begin, int64_t end) {
    const struct staged *self = data;
    (void)begin, (void)end;
    for (int32_t i = 0; i < self->n; i++) {
        *self->y += self->results[i];
    }
}

static int32_t as_product(void *instance, const struct graft_linear_args *args, struct graft_product *product) {
    const struct staged *self = instance;
    product->y = args->y;
    return self->n == 0;
}

static int as_loop(void *instance, const struct graft_call *given, const struct graft_linear_args *args,
                   struct graft_loop *loop, struct graft_error *error) {
    struct staged *self = instance;
    self->y = args->y;
    memset(self->results, 0, sizeof self->results);
    for (int32_t i = 0; i < self->n; i++) {
        self->products[i].product =
            (struct graft_product){.struct_size = sizeof self->products[i], .y = &self->results[i]};
    }
    graft_loop_set(loop, 1, 1, sum, self);
    return graft_loop_set_products(loop, &self->products[0].product, self->n, sizeof self->products[0])
               ? GRAFT_OK
               : given->kernels->linear(given, &self->products[0].product, self->n, sizeof self->products[0], error);
}

static const struct graft_linear vtable = {.struct_size = sizeof vtable, .as_product = as_product, .as_loop = as_loop};

static struct staged stages[MODULES];
static struct graft_module modules[MODULES];
static float y[MODULES];

static void make(int32_t n, const int32_t *products) {
    calls = 0;
    memset(y, 0, sizeof y);
    for (int32_t i = 0; i < n; i++) {
        stages[i] = (struct staged){.n = products[i]};
        modules[i] =
            (struct graft_module){.struct_size = sizeof modules[i], .instance = &stages[i], .forward = &vtable};
    }
}

static void run(int32_t n, const int32_t *products) {
    const struct graft_module *pointers[MODULES];
    struct graft_linear_args args[MODULES];
    make(n, products);
    for (int32_t i = 0; i < n; i++) {
        pointers[i] = &modules[i];
        args[i] = (struct graft_linear_args){.struct_size = sizeof args[i], .tokens = 1, .y = &y[i]};
    }
    assert_int_equal(graft_linear_forward_all(pointers, &call, args, n, NULL), GRAFT_OK);
    for (int32_t i = 0; i < n; i++) {
        assert_true(y[i] == (float)(products[i] > 0 ? products[i] : 1));
    }
}

static void test_together(void **state) {
    (void)state;
    run(3, (const int32_t[]){2, 0, 3});
    assert_int_equal(calls, 1);
    assert_int_equal(counts[0], 6);
}

/* More than there is room for. */
static void test_many(void **state) {
    (void)state;
    run(MODULES, (const int32_t[]){5, 5, 0, 5, 5, 1, 2, 5});
    int32_t all = 0;
    for (int32_t i = 0; i < calls; i++) {
        all += counts[i];
    }
    assert_int_equal(all, 29);
    assert_int_equal(counts[calls - 1], GRAFT_LINEAR_ALL_PRODUCTS);
}

/* Whoever asks for the loop alone finds its products done. */
static void test_alone(void **state) {
    struct graft_linear_args args = {.struct_size = sizeof args, .tokens = 1, .y = y};
    struct graft_loop loop;
    (void)state;
    make(1, (const int32_t[]){3});
    assert_int_equal(graft_linear_as_loop(&modules[0], &call, &args, &loop, NULL), GRAFT_OK);
    assert_int_equal(calls, 1);
    graft_loops_run(&threads, &loop, 1);
    assert_true(y[0] == 3.0F);
}

/* A parent of the time before products, and a class between that only passes the call on. */
static void test_smaller(void **state) {
    enum { SIZE = offsetof(struct graft_loop, products) };
    struct graft_linear_args args = {.struct_size = sizeof args, .tokens = 1, .y = y};
    struct graft_loop loop;
    (void)state;
    make(1, (const int32_t[]){2});
    memset(&loop, UNTOUCHED, sizeof loop);
    memset(&loop, 0, SIZE);
    loop.struct_size = SIZE;
    assert_int_equal(graft_linear_pass_loop(&modules[0], &call, &args, &loop, NULL), GRAFT_OK);
    assert_int_equal(calls, 1);
    assert_int_equal(loop.items, 1);
    for (size_t i = SIZE; i < sizeof loop; i++) {
        assert_int_equal(((const unsigned char *)&loop)[i], UNTOUCHED);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_together), cmocka_unit_test(test_many),
                                       cmocka_unit_test(test_alone), cmocka_unit_test(test_smaller)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

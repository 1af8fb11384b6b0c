/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the activation classes with transformers' ACT2FN. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "arch/arch.h"
#include "arch/basic/activation.h"
#include "graft/activation.h"
#include "kernels/kernels.h"
#include "kernels/threads.h"

enum { POINTS = 6 };

static const float x[POINTS] = {-12.0f, -2.0f, -0.5f, 0.0f, 1.5f, 12.0f};

/* Values of torch 2.13 in f64. */
static const struct {
    const char *name;
    double y[POINTS];
} cases[] = {
    {"gelu_10", {0.0, -0.0455002639, -0.1542687694, 0.0, 1.399789198, 10.0}},
    {"gelu_accurate", {0.0, -0.04540230591, -0.1542859902, 0.0, 1.399571577, 12.0}},
    {"hardswish", {0.0, -0.3333333333, -0.2083333333, 0.0, 1.125, 12.0}},
    {"laplace", {0.0, 0.0, 9.383381168e-06, 0.006094459618, 0.997528541, 1.0}},
    {"leaky_relu", {-0.12, -0.02, -0.005, 0.0, 1.5, 12.0}},
    {"linear", {-12.0, -2.0, -0.5, 0.0, 1.5, 12.0}},
    {"mish", {-7.373032173e-05, -0.2525014827, -0.2207437747, 0.0, 1.403378266, 12.0}},
    {"relu2", {0.0, 0.0, 0.0, 0.0, 2.25, 144.0}},
    {"relu6", {0.0, 0.0, 0.0, 0.0, 1.5, 6.0}},
    {"sqrtsoftplus", {0.002478748369, 0.3562695764, 0.6885324859, 0.8325546112, 1.304382336, 3.464102502}},
};

static const struct graft_class *find(const char *name) {
    const struct graft_class *cls = graft_activation_classes;
    while (cls->name != NULL && strcmp(cls->name, name) != 0) {
        cls++;
    }
    return cls;
}

static void test_values(void **state) {
    struct graft_scratch *scratch = graft_scratch_create();
    struct graft_call call;
    (void)state;
    graft_call_init(&call, GRAFT_PRECISION_AUTO, scratch);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct graft_class *cls = find(graft_activation_class(cases[i].name));
        const struct graft_activation *vtable = cls->forward;
        float y[POINTS + 1];
        const struct graft_activation_args args = {sizeof args, 0, POINTS, x, y};
        const float none = NAN;
        const struct graft_activation_args of_none = {sizeof args, 0, 1, &none, y + POINTS};
        void *self = NULL;
        assert_int_equal(cls->create(cls, NULL, &self, NULL), GRAFT_OK);
        assert_int_equal(vtable->forward(self, &call, &args, NULL), GRAFT_OK);
        assert_int_equal(vtable->forward(self, &call, &of_none, NULL), GRAFT_OK);
        for (int p = 0; p < POINTS; p++) {
            assert_true(fabs((double)y[p] - cases[i].y[p]) <= 2e-6 * fmax(1.0, fabs(cases[i].y[p])));
        }
        assert_true(isnan(y[POINTS]));
    }
    graft_scratch_destroy(scratch);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_values)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

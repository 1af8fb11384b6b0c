/* SPDX-License-Identifier: Apache-2.0 */
/* The build of loops that is chosen, by GRAFT_ISA and by the number of builds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "graft/isa.h"

/* The instruction sets in the order of the builds. */
enum { SCALAR, AVX2, AVX512, AVX512_BF16, AVX2_VNNI, AVX512_VNNI, BUILDS };

static int32_t choose(const char *wanted, int32_t n) {
    if (wanted == NULL) {
        assert_int_equal(unsetenv("GRAFT_ISA"), 0);
    } else {
        assert_int_equal(setenv("GRAFT_ISA", wanted, 1), 0);
    }
    return graft_isa_choose(n);
}

/* Holds on every processor. */
static void test_scalar(void **state) {
    (void)state;
    for (int32_t n = 1; n <= BUILDS; n++) {
        assert_int_equal(choose("scalar", n), SCALAR);
        assert_int_equal(choose(NULL, n), choose("nothing of that name", n));
        assert_true(graft_isa_runs(choose(NULL, n)) && choose(NULL, n) < n);
    }
    assert_int_equal(choose(NULL, 1), SCALAR);
}

/* Holds on a processor that supports all instruction sets. */
static void test_order(void **state) {
    static const struct {
        const char *wanted;
        int32_t of_3, of_4, of_all;
    } cases[] = {
        {NULL, AVX512, AVX512_BF16, AVX512_BF16},
        {"amx", AVX512, AVX512_BF16, AVX512_BF16},
        {"avx512_bf16", AVX512, AVX512_BF16, AVX512_BF16},
        {"avx512_vnni", AVX512, AVX512, AVX512_VNNI},
        {"avx512", AVX512, AVX512, AVX512},
        {"avx2_vnni", AVX2, AVX2, AVX2_VNNI},
        {"avx2", AVX2, AVX2, AVX2},
    };
    (void)state;
    for (int32_t build = 0; build < BUILDS; build++) {
        if (!graft_isa_runs(build)) {
            (void)fprintf(stderr, "skipped: this processor does not run build %d\n", (int)build);
            skip();
        }
    }
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(choose(cases[i].wanted, AVX512 + 1), cases[i].of_3);
        assert_int_equal(choose(cases[i].wanted, AVX512_BF16 + 1), cases[i].of_4);
        assert_int_equal(choose(cases[i].wanted, BUILDS), cases[i].of_all);
        assert_int_equal(choose(cases[i].wanted, AVX2 + 1), AVX2);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_scalar), cmocka_unit_test(test_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

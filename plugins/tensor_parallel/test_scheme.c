/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scheme.h"

static const struct scheme scheme = {.text =
                                         "layers.*.self_attn.q_proj=colwise,layers.*.self_attn.o_proj=rowwise,"
                                         "layers.*.mlp.shared_expert.up_proj=colwise,lm_head=colwise_gather_output"};

static void test_style(void **state) {
    (void)state;
    assert_int_equal(scheme_style(&scheme, "model.layers.12.self_attn.q_proj"), STYLE_COLWISE);
    assert_int_equal(scheme_style(&scheme, "layers.0.self_attn.o_proj"), STYLE_ROWWISE);
    assert_int_equal(scheme_style(&scheme, "lm_head"), STYLE_COLWISE_GATHER_OUTPUT);
    assert_int_equal(scheme_style(&scheme, "model.layers.0.self_attn.k_proj"), STYLE_NONE);
    assert_int_equal(scheme_style(&scheme, "model.layers.0.1.self_attn.q_proj"), STYLE_NONE);
    assert_int_equal(scheme_style(&scheme, "model.layers.0.self_attn.q_proj.base"), STYLE_NONE);
    assert_int_equal(scheme_style(&scheme, "model.layers.0.self_attn.q_pro"), STYLE_NONE);
    assert_int_equal(scheme_style(&scheme, "model.layers.0.self_attn"), STYLE_NONE);
    assert_int_equal(scheme_style(&scheme, ""), STYLE_NONE);
}

static void test_below(void **state) {
    enum style style = STYLE_NONE;
    char name[SCHEME_NAME];
    (void)state;
    assert_int_equal(scheme_below(&scheme, 0, "model.layers.3.self_attn", name, &style), 1);
    assert_string_equal(name, "q_proj");
    assert_int_equal(style, STYLE_COLWISE);
    assert_int_equal(scheme_below(&scheme, 1, "model.layers.3.self_attn", name, &style), 1);
    assert_string_equal(name, "o_proj");
    assert_int_equal(style, STYLE_ROWWISE);
    assert_int_equal(scheme_below(&scheme, 2, "model.layers.3.mlp", name, &style),
                     0); /* its module is not a child of this one */
    assert_int_equal(scheme_below(&scheme, 2, "model.layers.3.mlp.shared_expert", name, &style), 1);
    assert_int_equal(scheme_below(&scheme, 3, "lm_head", name, &style), 0);
    assert_int_equal(scheme_below(&scheme, 4, "lm_head", name, &style), -1);
}

static void assert_refused(const char *text, const char *message) {
    struct graft_error error = graft_error_none();
    const struct scheme bad = {.text = text};
    assert_int_equal(scheme_check(&bad, &error), GRAFT_ERROR_USAGE);
    assert_non_null(strstr(error.message, message));
}

static void test_check(void **state) {
    (void)state;
    assert_int_equal(scheme_check(&scheme, NULL), GRAFT_OK);
    assert_refused("a=colwise,b=colwis", "got \"b=colwis\"");
    assert_refused("a=colwise,", "got \"\"");
    assert_refused("=colwise", "got \"=colwise\"");
    assert_refused("a", "got \"a\"");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_style), cmocka_unit_test(test_below),
                                       cmocka_unit_test(test_check)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

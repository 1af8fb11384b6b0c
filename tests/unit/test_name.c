/* SPDX-License-Identifier: Apache-2.0 */
/* The meaning of names in conversions of classes and in lists. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "names/key_pattern.h"
#include "names/name.h"

static int64_t index_of(const char *digits) {
    return graft_name_index(digits, strlen(digits));
}

static void test_indices(void **state) {
    (void)state;
    assert_int_equal(index_of("0"), 0);
    assert_int_equal(index_of("127"), 127);
    assert_int_equal(index_of("999999999"), 999999999);
    assert_int_equal(index_of("1000000000"), -1);
    assert_int_equal(index_of("01"), -1);
    assert_int_equal(index_of("+1"), -1);
    assert_int_equal(index_of("1x"), -1);
    assert_int_equal(index_of(""), -1);
    assert_int_equal(graft_name_index("12.w1", 2), 12);
}

static void test_star(void **state) {
    char name[GRAFT_NAME_BYTES], longest[GRAFT_NAME_BYTES];
    (void)state;
    assert_true(graft_name_indexed("experts.*.w1", 12, name));
    assert_string_equal(name, "experts.12.w1");
    assert_true(graft_name_indexed("gate", 12, name));
    assert_string_equal(name, "gate");
    memset(longest, 'a', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    assert_true(graft_name_indexed(longest, 0, name));
    longest[0] = '*';
    assert_true(graft_name_indexed(longest, 1, name));
    assert_false(graft_name_indexed(longest, 12, name));
}

static void test_below(void **state) {
    char full[GRAFT_NAME_BYTES], longest[GRAFT_NAME_BYTES];
    (void)state;
    assert_true(graft_name_below("model.layers.0", "mlp.weight", full));
    assert_string_equal(full, "model.layers.0.mlp.weight");
    assert_true(graft_name_below("", "lm_head.weight", full));
    assert_string_equal(full, "lm_head.weight");
    memset(longest, 'a', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    assert_true(graft_name_below("", longest, full));
    assert_string_equal(full, longest);
    assert_false(graft_name_below("m", longest, full));
    assert_false(graft_name_below("m", longest + 1, full));
    assert_true(graft_name_below("m", longest + 2, full));
    assert_int_equal(strlen(full), sizeof full - 1);
}

static void test_spellings(void **state) {
    char name[GRAFT_NAME_BYTES], longest[GRAFT_NAME_BYTES];
    (void)state;
    assert_true(graft_name_spell("model", "model.norm", GRAFT_SPELLED_AS_IS, name));
    assert_string_equal(name, "model.norm");
    assert_true(graft_name_spell("model", "model.norm", GRAFT_SPELLED_WITHOUT_PREFIX, name));
    assert_string_equal(name, "norm");
    assert_true(graft_name_spell("model", "norm", GRAFT_SPELLED_WITH_PREFIX, name));
    assert_string_equal(name, "model.norm");
    assert_false(graft_name_spell("model", "models.norm", GRAFT_SPELLED_WITHOUT_PREFIX, name));
    assert_false(graft_name_spell("", "norm", GRAFT_SPELLED_WITH_PREFIX, name));
    assert_false(graft_name_spell("", ".norm", GRAFT_SPELLED_WITHOUT_PREFIX, name));
    memset(longest, 'a', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    assert_true(graft_name_spell("model", longest, GRAFT_SPELLED_AS_IS, name));
    assert_false(graft_name_spell("model", longest, GRAFT_SPELLED_WITH_PREFIX, name));
}

/* A model's names: NULL-terminated. */
static int known(void *data, const char *name) {
    const char *const *names = data;
    for (; *names != NULL; names++) {
        if (strcmp(*names, name) == 0) {
            return 1;
        }
    }
    return 0;
}

static void test_in_model(void **state) {
    static const char *names[] = {"model.norm", "lm_head", "model.lm_head", "bias", "model.model.bias", NULL};
    static const struct {
        const char *name;
        const char *in_model; /* NULL: unknown */
    } cases[] = {
        {"model.norm", "model.norm"},
        {"norm", "model.norm"},
        {"lm_head", "lm_head"},
        {"model.lm_head", "model.lm_head"},
        {"model.bias", "bias"}, /* removing comes before adding */
        {"scale", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char spelled[GRAFT_NAME_BYTES];
        int found = graft_name_in_model("model", cases[i].name, known, (void *)(uintptr_t)names, spelled);
        assert_int_equal(found, cases[i].in_model != NULL);
        assert_string_equal(spelled, found ? cases[i].in_model : cases[i].name);
    }
}

/* The text that each match of a pattern contains; nothing if part of it is optional. */
static void test_literals(void **state) {
    static const struct {
        const char *pattern, *literal;
    } cases[] = {
        {"LayerNorm.gamma", "LayerNorm"},
        {"^model\\.language_model\\.model", "language_model"},
        {"experts.*.w1.weight", "experts"},
        {"q*.k_proj", "k_proj"},
        {"", NULL},
        {"...", NULL},
        {"weights?", NULL},
        {"layers\\.\\d+", NULL},
        {"block.*mlp", NULL},
        {"gamma|beta", NULL},
        {"(?i)gamma", NULL},
        {"a{0}bc", NULL},
        {"[ab]c", NULL},
        {"mlp$", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t length;
        const char *literal = graft_key_pattern_literal(cases[i].pattern, &length);
        if (cases[i].literal == NULL) {
            assert_null(literal);
        } else {
            assert_non_null(literal);
            assert_int_equal(length, strlen(cases[i].literal));
            assert_memory_equal(literal, cases[i].literal, length);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_indices),   cmocka_unit_test(test_star),     cmocka_unit_test(test_below),
        cmocka_unit_test(test_spellings), cmocka_unit_test(test_in_model), cmocka_unit_test(test_literals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

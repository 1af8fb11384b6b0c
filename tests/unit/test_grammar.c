/* SPDX-License-Identifier: Apache-2.0 */
/* Grammars: texts that fit byte by byte, tokens that a mask allows, places of errors, and limits. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "grammar/gbnf.h"

#include "failing.h"
#include "grammar_fixture.h"

static const struct graft_matcher_ends ends = {(const int32_t[]){FIXTURE_END}, 1};

struct opened {
    struct graft_trie *trie;
    struct graft_grammar_core *core;
    struct graft_matcher *matcher;
};

static int open_with(const char *text, const struct graft_machine_limits *limits, struct opened *opened,
                     struct graft_error *error) {
    struct graft_rules rules = {0};
    *opened = (struct opened){0};
    int status = graft_gbnf_read(text, strlen(text), "g.gbnf", &rules, error);
    if (status == GRAFT_OK) {
        status = graft_rules_finish(&rules, "g.gbnf", error);
    }
    if (status == GRAFT_OK) {
        opened->trie = fixture_trie();
        opened->core = opened->trie != NULL ? graft_grammar_core_create(&rules, opened->trie, limits) : NULL;
        opened->matcher = opened->core != NULL ? graft_matcher_create(opened->core, NULL) : NULL;
        status = opened->matcher != NULL ? GRAFT_OK : graft_fail_memory(error, "test");
    }
    graft_rules_free(&rules);
    return status;
}

static void close_all(struct opened *opened) {
    graft_matcher_destroy(opened->matcher);
    graft_grammar_core_destroy(opened->core);
    graft_trie_destroy(opened->trie);
}

static struct opened open_text(const char *text) {
    struct graft_error error = graft_error_none();
    struct opened opened;
    const int status = open_with(text, &graft_machine_usual_limits, &opened, &error);
    if (status != GRAFT_OK) {
        fail_msg("%s: %s", text, error.message);
    }
    return opened;
}

static int fits(struct opened *opened, const char *text, size_t length) {
    struct graft_matcher *matcher = graft_matcher_create(opened->core, NULL);
    assert_int_equal(graft_matcher_take(matcher, text, length, NULL), GRAFT_OK);
    const int may_end = graft_matcher_may_end(matcher);
    graft_matcher_destroy(matcher);
    return may_end;
}

static void assert_fits(const char *grammar, const char *const *yes, const char *const *no) {
    struct opened opened = open_text(grammar);
    for (; *yes != NULL; yes++) {
        if (!fits(&opened, *yes, strlen(*yes))) {
            fail_msg("%s does not take: %s", grammar, *yes);
        }
    }
    for (; *no != NULL; no++) {
        if (fits(&opened, *no, strlen(*no))) {
            fail_msg("%s takes: %s", grammar, *no);
        }
    }
    close_all(&opened);
}

#define TEXTS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void test_items(void **state) {
    (void)state;
    assert_fits("root ::= \"a\" \"bc\" | \"x\"", TEXTS("abc", "x"), TEXTS("", "a", "ab", "abcx", "xx"));
    assert_fits("root ::= [a-c_] [^a-c\\n]", TEXTS("ad", "_\xC3\xA4", "c\xF0\x9F\x98\x80"),
                TEXTS("da", "aa", "a\n", "a\xC3"));
    assert_fits("root ::= .", TEXTS("a", "\xC3\xA4", "\xE4\xBD\xA0", "\xF0\x9F\x98\x80"),
                TEXTS("", "\x80", "\xC0\x80", "\xED\xA0\x80", "\xF5\x80\x80\x80", "ab"));
    assert_fits("root ::= \"\\x41\\u00e4\\U0001F600\\\"\\\\\\t\"", TEXTS("A\xC3\xA4\xF0\x9F\x98\x80\"\\\t"),
                TEXTS("A"));
    assert_fits("root ::= (\"a\" | \"b\" (\"c\"))", TEXTS("a", "bc"), TEXTS("b", "ac"));
    assert_fits("root ::= [\\u4e00-\\u9fff]", TEXTS("\xE4\xB8\x80", "\xE9\xBF\xBF"),
                TEXTS("\xE4\xB7\xBF", "\xEA\x80\x80"));
}

static void test_repetitions(void **state) {
    (void)state;
    assert_fits("root ::= \"a\"?", TEXTS("", "a"), TEXTS("aa"));
    assert_fits("root ::= \"a\"* \"b\"+", TEXTS("b", "aab", "abbb"), TEXTS("", "a", "ba"));
    assert_fits("root ::= [ab]{3}", TEXTS("aba"), TEXTS("ab", "abab"));
    assert_fits("root ::= [ab]{2,}", TEXTS("ab", "ababab"), TEXTS("a"));
    assert_fits("root ::= [ab]{,2}", TEXTS("", "a", "ab"), TEXTS("aba"));
    assert_fits("root ::= ([ab]{1,2} \"-\"){1,3}", TEXTS("a-", "ab-b-a-"), TEXTS("", "abb-", "a-a-a-a-"));
    assert_fits("root ::= (\"a\"?)* \"b\"", TEXTS("b", "aab"), TEXTS("a"));
    assert_fits("root ::= [a]{0}", TEXTS(""), TEXTS("a"));
}

static void test_rules(void **state) {
    (void)state;
    assert_fits("root ::= list # a list\nlist ::= \"[\" (root (\",\" root)*)? \"]\"\n", TEXTS("[]", "[[],[[]]]"),
                TEXTS("[", "]", "[,]", "[]]"));
    assert_fits("root ::=\n  \"a\" (\n \"b\" |\n \"c\" # or\n )\n\nother-1 ::= root", TEXTS("ab", "ac"), TEXTS("a"));
    assert_fits("root ::= \"a\" root | \"\"", TEXTS("", "aaaa"), TEXTS("b"));
    /* Two alternatives that only differ at the end. */
    assert_fits("root ::= a \"x\" | b \"y\"\na ::= [a] a? [b]\nb ::= [a] b? [b]", TEXTS("aabbx", "aabby"),
                TEXTS("aabx", "aabb"));
    /* Alternatives that can never end are left out. */
    assert_fits("root ::= \"a\" | \"b\" endless\nendless ::= \"c\" endless", TEXTS("a"), TEXTS("b", "bc"));
}

static void assert_refused(const char *text, const char *says) {
    struct graft_error error = graft_error_none();
    struct opened opened;
    assert_int_equal(open_with(text, &graft_machine_usual_limits, &opened, &error), GRAFT_ERROR_USAGE);
    assert_string_equal(error.source, "g.gbnf");
    if (strstr(error.message, says) == NULL) {
        fail_msg("%s: \"%s\" does not say \"%s\"", text, error.message, says);
    }
    close_all(&opened);
}

static void test_refused(void **state) {
    (void)state;
    assert_refused("", "no rule of the name root");
    assert_refused("a ::= \"b\"", "no rule of the name root");
    assert_refused("root ::= \"a\" b", "line 1, column 14: there is no rule of the name b");
    assert_refused("root ::= \"a\"\nroot ::= \"b\"", "line 2, column 5: there are two rules");
    assert_refused("root = \"a\"", "line 1, column 6: expected ::=");
    assert_refused("root ::= \"a", "the text does not end");
    assert_refused("root ::= [a", "do not end");
    assert_refused("root ::= (\"a\"", "expected )");
    assert_refused("root ::= \"a\")", "unexpected )");
    assert_refused("root ::= \"\\q\"", "unknown escape");
    assert_refused("root ::= \"\\ud800\"", "is not a character");
    assert_refused("root ::= \"\xFF\"", "not UTF-8");
    assert_refused("root ::= [b-a]", "ends before it begins");
    assert_refused("root ::= \"a\"{3,2}", "at least than at most");
    assert_refused("root ::= \"a\"{}", "expected {n}");
    assert_refused("root ::= \"a\"{1000000}", "repetitions");
    assert_refused("root ::= root \"a\" | \"a\"", "root can begin with itself");
    assert_refused("root ::= \"x\" a\na ::= \"y\"? b\nb ::= a \"z\" | \"q\"", "can begin with itself");
    assert_refused("root ::= \"a\" root", "nothing fits it");
}

static void test_too_large(void **state) {
    (void)state;
    enum { TIMES = 50 };
    struct graft_text text = {0};
    graft_text_add_string(&text, "root ::=");
    for (int i = 0; i < TIMES; i++) {
        graft_text_add_string(&text, " \"b\"{100000}");
    }
    assert_refused(text.bytes, "too large");
    graft_text_free(&text);
}

/* --- Tokens --- */

static int token_fits(struct opened *opened, const struct graft_matcher *at, int32_t id) {
    struct graft_matcher *matcher = graft_matcher_create(opened->core, at);
    int found = 0;
    if (id == FIXTURE_END) {
        found = graft_matcher_may_end(matcher);
    } else {
        assert_int_equal(graft_matcher_take_token(matcher, id, NULL), GRAFT_OK);
        found = !graft_matcher_is_dead(matcher);
    }
    graft_matcher_destroy(matcher);
    return found;
}

static void assert_mask_is_right(struct opened *opened) {
    float scores[FIXTURE_SIZE];
    int left = 0, any = 0;
    for (int i = 0; i < FIXTURE_SIZE; i++) {
        scores[i] = (float)i;
    }
    assert_int_equal(graft_matcher_mask(opened->matcher, &ends, 0, scores, FIXTURE_SIZE, &left, NULL), GRAFT_OK);
    for (int i = 0; i < FIXTURE_SIZE; i++) {
        const int is_left = scores[i] > -INFINITY;
        any |= is_left;
        assert_true(!is_left || scores[i] == (float)i);
        if (is_left != token_fits(opened, opened->matcher, i)) {
            fail_msg("token %d", i);
        }
    }
    assert_int_equal(left, any);
}

static uint32_t random_below(uint32_t *seed, uint32_t n) {
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) % n;
}

/* Generates random texts of tokens that the mask allows. Compares each mask with trying every token, and the highest of
 * random scores that it leaves with that of the mask for the largest score only (`quick`). */
static void test_masks(void **state) {
    (void)state;
    static const char *const grammars[] = {
        "root ::= \"{\" pair (\",\" pair)* \"}\"\npair ::= text \":\" (root | text | \"true\" | \"null\" | number)\n"
        "text ::= \"\\\"\" ([^\"\\\\\\x00-\\x1F] | \"\\\\\" ([\"\\\\n] | \"u\" [0-9a-f]{4})){0,5} \"\\\"\"\n"
        "number ::= \"-\"? [0-9]+ (\".\" [0-9]+)? (\"e\" [0-9])?",
        "root ::= .{3} | \"a\"+",
        "root ::= \"[\" (root (\",\" root)*)? \"]\" | \"x\"",
    };
    uint32_t seed = 1;
    for (size_t g = 0; g < sizeof grammars / sizeof *grammars; g++) {
        for (int text = 0; text < 40; text++) {
            struct opened opened = open_text(grammars[g]);
            for (int step = 0; step < 30 && !graft_matcher_is_dead(opened.matcher); step++) {
                float all[FIXTURE_SIZE], quick[FIXTURE_SIZE];
                int left = 0, best = 0, best_quick = 0;
                for (int i = 0; i < FIXTURE_SIZE; i++) {
                    all[i] = quick[i] = (float)random_below(&seed, 100000);
                }
                assert_mask_is_right(&opened);
                assert_int_equal(graft_matcher_mask(opened.matcher, &ends, 0, all, FIXTURE_SIZE, &left, NULL), 0);
                assert_int_equal(graft_matcher_mask(opened.matcher, &ends, 1, quick, FIXTURE_SIZE, &left, NULL), 0);
                for (int i = 0; i < FIXTURE_SIZE; i++) {
                    best = all[i] > all[best] ? i : best;
                    best_quick = quick[i] > quick[best_quick] ? i : best_quick;
                }
                assert_int_equal(best, best_quick);
                assert_true(left);
                if (best == FIXTURE_END) {
                    break;
                }
                assert_int_equal(graft_matcher_take_token(opened.matcher, best, NULL), GRAFT_OK);
            }
            close_all(&opened);
        }
    }
}

/* After a token that does not fit, the mask allows no token at all. */
static void test_dead(void **state) {
    (void)state;
    struct opened opened = open_text("root ::= \"a\"");
    float scores[FIXTURE_SIZE] = {0.0F};
    int left = 1;
    assert_int_equal(graft_matcher_take_token(opened.matcher, 'b', NULL), GRAFT_OK);
    assert_true(graft_matcher_is_dead(opened.matcher));
    assert_int_equal(graft_matcher_mask(opened.matcher, &ends, 0, scores, FIXTURE_SIZE, &left, NULL), GRAFT_OK);
    assert_int_equal(left, 0);
    close_all(&opened);
}

/* --- Limits --- */

/* With a small memory limit the sets of states are often dropped and numbered again; matchers keep their positions. */
static void test_tidied(void **state) {
    (void)state;
    static const struct graft_machine_limits little = {.bytes = 4000, .configs = 100, .depth = 100};
    struct graft_error error = graft_error_none();
    struct opened opened;
    assert_int_equal(open_with("root ::= \"(\" root \")\" | [a-z]{0,60}", &little, &opened, &error), GRAFT_OK);
    struct graft_matcher *other = graft_matcher_create(opened.core, NULL);
    assert_int_equal(graft_matcher_take(other, "((ab", 4, &error), GRAFT_OK);
    for (int round = 0; round < 5; round++) {
        struct graft_matcher *matcher = graft_matcher_create(opened.core, NULL);
        for (int i = 0; i < 10; i++) {
            assert_int_equal(graft_matcher_take(matcher, "(", 1, &error), GRAFT_OK);
        }
        for (int i = 0; i < 40; i++) {
            assert_int_equal(graft_matcher_take(matcher, "q", 1, &error), GRAFT_OK);
        }
        assert_int_equal(graft_matcher_take(matcher, "))))))))))", 10, &error), GRAFT_OK);
        assert_true(graft_matcher_may_end(matcher));
        graft_matcher_destroy(matcher);
    }
    assert_int_equal(graft_matcher_take(other, "c))", 3, &error), GRAFT_OK);
    assert_true(graft_matcher_may_end(other));
    graft_matcher_destroy(other);
    close_all(&opened);
}

static void test_ambiguous(void **state) {
    (void)state;
    static const struct graft_machine_limits little = {.bytes = 1 << 20, .configs = 50, .depth = 100};
    struct graft_error error = graft_error_none();
    struct opened opened;
    int status = open_with("root ::= (\"a\" | \"a\" root \"b\" | \"a\" root \"c\" root)", &little, &opened, &error);
    for (int i = 0; i < 30 && status == GRAFT_OK; i++) {
        status = graft_matcher_take(opened.matcher, "a", 1, &error);
    }
    assert_int_equal(status, GRAFT_ERROR_USAGE);
    assert_non_null(strstr(error.message, "too many ways"));
    close_all(&opened);
}

static void test_depth(void **state) {
    (void)state;
    static const struct graft_machine_limits flat = {.bytes = 1 << 20, .configs = 50, .depth = 3};
    struct graft_error error = graft_error_none();
    struct opened opened;
    assert_int_equal(open_with("root ::= \"[\" root? \"]\"", &flat, &opened, &error), GRAFT_OK);
    assert_true(fits(&opened, "[[[]]]", 6));
    assert_false(fits(&opened, "[[[[[]]]]]", 10));
    close_all(&opened);
}

static int use_all(void) {
    struct opened opened;
    struct graft_error error = graft_error_none();
    float scores[FIXTURE_SIZE] = {0.0F};
    int left = 0;
    int status = open_with("root ::= \"[\" (item (\",\" item)*)? \"]\"\nitem ::= root | [^a-z]{2,4}",
                           &graft_machine_usual_limits, &opened, &error);
    if (status == GRAFT_OK) {
        status = graft_matcher_take(opened.matcher, "[[12,345", 8, &error);
    }
    if (status == GRAFT_OK) {
        status = graft_matcher_mask(opened.matcher, &ends, 0, scores, FIXTURE_SIZE, &left, &error);
    }
    assert_int_equal(status, error.code);
    if (status != GRAFT_OK && status != GRAFT_ERROR_INTERNAL) {
        fail_msg("%s: %s", error.source, error.message);
    }
    close_all(&opened);
    return status;
}

static void test_memory(void **state) {
    (void)state;
    for (long n = 1;; n = next_failing(n)) {
        (void)graft_alloc_fail_at(n);
        const int status = use_all();
        if (graft_alloc_fail_at(0) != 0) {
            assert_int_equal(status, GRAFT_OK);
            return;
        }
        assert_int_equal(status, GRAFT_ERROR_INTERNAL);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_items),   cmocka_unit_test(test_repetitions), cmocka_unit_test(test_rules),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_too_large),   cmocka_unit_test(test_masks),
        cmocka_unit_test(test_dead),    cmocka_unit_test(test_tidied),      cmocka_unit_test(test_ambiguous),
        cmocka_unit_test(test_depth),   cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

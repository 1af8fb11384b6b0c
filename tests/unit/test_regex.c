/* SPDX-License-Identifier: Apache-2.0 */
#include "base/regex.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"

static struct graft_regex *compile(const char *pattern) {
    struct graft_regex *regex = NULL;
    struct graft_error error = graft_error_none();
    if (graft_regex_compile(pattern, strlen(pattern), "test", GRAFT_ERROR_USAGE, &regex, &error) != GRAFT_OK) {
        print_message("%s\n", error.message);
    }
    assert_non_null(regex);
    return regex;
}

static void assert_found(const char *pattern, const char *text, size_t from, size_t start, size_t end) {
    struct graft_regex *regex = compile(pattern);
    struct graft_regex_match match;
    assert_int_equal(graft_regex_search(regex, text, strlen(text), from, &match), GRAFT_REGEX_MATCH);
    assert_int_equal(match.start, start);
    assert_int_equal(match.end, end);
    graft_regex_free(regex);
}

static void test_search(void **state) {
    (void)state;
    assert_found("Attention", "LlamaAttention", 0, 5, 14);
    assert_found("^Llama.*(MLP|Attention)$", "LlamaMLP", 0, 0, 8);
    assert_found("\\p{L}+", "1 \xC3\xA9t\xC3\xA9 2", 0, 2, 7);
    assert_found("\\w+", "\xE4\xB8\xAD\xE6\x96\x87", 0, 0, 6);
    assert_found("(?<=a)b", "ab", 1, 1, 2);
    assert_found("", "", 0, 0, 0);
    assert_found("x*", "ab", 2, 2, 2);
}

static void test_no_match(void **state) {
    (void)state;
    struct graft_regex *regex = compile("b");
    struct graft_regex_match match;
    assert_int_equal(graft_regex_search(regex, "abc", 1, 0, &match), GRAFT_REGEX_NO_MATCH);
    assert_int_equal(graft_regex_search(regex, "abc", 3, 2, &match), GRAFT_REGEX_NO_MATCH);
    assert_int_equal(graft_regex_search(regex, "abc", 3, 4, &match), GRAFT_REGEX_NO_MATCH);
    graft_regex_free(regex);
    graft_regex_free(NULL);
}

static void test_bad_text(void **state) {
    (void)state;
    struct graft_regex *regex = compile(".");
    struct graft_regex_match match;
    assert_int_equal(graft_regex_search(regex, "a\xFF", 2, 0, &match), GRAFT_REGEX_BAD_TEXT);
    assert_int_equal(graft_regex_search(regex, "a\xE2\x82", 3, 0, &match), GRAFT_REGEX_BAD_TEXT);
    assert_int_equal(graft_regex_search(regex, "\xC3\xA9", 2, 1, &match), GRAFT_REGEX_BAD_TEXT);
    graft_regex_free(regex);
}

static void assert_invalid(const char *pattern, size_t length, const char *words) {
    struct graft_regex *regex = NULL;
    struct graft_error error = graft_error_none();
    assert_int_equal(graft_regex_compile(pattern, length, "plugin", GRAFT_ERROR_PLUGIN, &regex, &error),
                     GRAFT_ERROR_PLUGIN);
    assert_null(regex);
    assert_string_equal(error.source, "plugin");
    if (strncmp(error.message, words, strlen(words)) != 0) {
        fail_msg("%s", error.message);
    }
}

static void test_invalid(void **state) {
    (void)state;
    assert_invalid("a(b", 3, "invalid regular expression, at byte 3: missing closing parenthesis: \"a(b\"");
    assert_invalid("a(bc", 3, "invalid regular expression, at byte 3: missing closing parenthesis: \"a(b\"");
    assert_invalid("a\\Cb", 4, "invalid regular expression, at byte 3: using \\C is disabled");
    assert_invalid("a\xFF", 2, "invalid regular expression, at byte 1: UTF-8 error");
    assert_invalid("((a{1000}){1000}){1000}", 23, "invalid regular expression, at byte ");
    static char large[65537];
    memset(large, 'a', sizeof large);
    assert_invalid(large, sizeof large, "regular expression of 65537 bytes, expected at most 65536");
}

static void test_too_costly(void **state) {
    (void)state;
    static const char text[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!";
    struct graft_regex *regex = compile("^(a+)+$");
    struct graft_regex_match match;
    assert_int_equal(graft_regex_search(regex, text, sizeof text - 1, 0, &match), GRAFT_REGEX_TOO_COSTLY);
    graft_regex_free(regex);
}

/* A match that needs more than the small stack of JIT code is still found. */
static void test_deep(void **state) {
    (void)state;
    enum { SIZE = 50000 };
    char *text = malloc(SIZE);
    assert_non_null(text);
    memset(text, 'a', SIZE);
    struct graft_regex *regex = compile("^(?:a|b(?=c))*$");
    struct graft_regex_match match = {0, 0};
    assert_int_equal(graft_regex_search(regex, text, SIZE, 0, &match), GRAFT_REGEX_MATCH);
    assert_int_equal(match.end, SIZE);
    graft_regex_free(regex);
    free(text);
}

static void *search_often(void *data) {
    const struct graft_regex *regex = data;
    struct graft_regex_match match;
    for (int i = 0; i < 1000; i++) {
        if (graft_regex_search(regex, "xxab", 4, 0, &match) != GRAFT_REGEX_MATCH || match.start != 2) {
            return data;
        }
    }
    return NULL;
}

static void test_threads(void **state) {
    (void)state;
    struct graft_regex *regex = compile("a(b)");
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, search_often, regex), 0);
    }
    for (int i = 0; i < 4; i++) {
        void *failed;
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
    }
    graft_regex_free(regex);
}

/* Compiles and searches in a new thread, which has no searcher yet. Returns "" on success. */
static void *compile_and_search(void *data) {
    struct graft_error error = graft_error_none();
    struct graft_regex *regex = NULL;
    struct graft_regex_match match;
    (void)data;
    int status = graft_regex_compile("a+", 2, "test", GRAFT_ERROR_USAGE, &regex, &error);
    if (status == GRAFT_ERROR_INTERNAL) {
        return NULL;
    }
    int found = status == GRAFT_OK ? graft_regex_search(regex, "baa", 3, 0, &match) : GRAFT_REGEX_NO_MATCH;
    graft_regex_free(regex);
    return found == GRAFT_REGEX_MATCH || found == GRAFT_REGEX_NO_MEMORY ? NULL : "wrong";
}

static void test_out_of_memory(void **state) {
    (void)state;
    for (long n = 1;; n++) {
        pthread_t thread;
        void *result;
        graft_alloc_fail_at(n);
        assert_int_equal(pthread_create(&thread, NULL, compile_and_search, NULL), 0);
        assert_int_equal(pthread_join(thread, &result), 0);
        assert_null(result);
        if (graft_alloc_fail_at(0) > 0) {
            break;
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_search),  cmocka_unit_test(test_no_match),      cmocka_unit_test(test_bad_text),
        cmocka_unit_test(test_invalid), cmocka_unit_test(test_too_costly),    cmocka_unit_test(test_deep),
        cmocka_unit_test(test_threads), cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Summaries of many paths list exactly the paths that exist. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/paths.h"

#define PATHS(...) \
    { __VA_ARGS__, NULL }

static void test_words(void **state) {
    static const struct {
        const char *paths[16];
        const char *words;
    } cases[] = {
        {PATHS("lm_head"), "lm_head"},
        {PATHS("layers.0.mlp"), "layers.0.mlp"},
        {PATHS("layers.0.mlp", "layers.1.mlp", "layers.2.mlp"), "layers.{0-2}.mlp"},
        {PATHS("layers.2.mlp", "layers.0.mlp"), "layers.{0,2}.mlp"},
        {PATHS("layers.10.mlp", "layers.9.mlp", "layers.3.mlp", "layers.11.mlp"), "layers.{3,9-11}.mlp"},
        {PATHS("layers.0.mlp", "layers.0.attn", "layers.1.mlp", "layers.1.attn"),
         "layers.{0-1}.mlp, layers.{0-1}.attn"},
        {PATHS("l.0.e.0", "l.0.e.1", "l.1.e.0", "l.1.e.1"), "l.{0-1}.e.{0-1}"},
        {PATHS("l.0.e.0", "l.0.e.1", "l.1.e.0"), "l.*.e.*"},
        {PATHS("l.7.e.0", "l.7.e.1"), "l.7.e.{0-1}"},
        {PATHS("a.0", "a.0.b", "a.1"), "a.{0-1}, a.0.b"},
        {PATHS("a.b", "a.0"), "a.b, a.0"},
        {PATHS("a.1234567890", "a.1234567891"), "a.1234567890, a.1234567891"},
        {PATHS("a", "b", "c", "d", "e", "f", "g", "h", "i", "j"), "a, b, c, d, e, f, g, h and 2 more"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct graft_text text = {0};
        size_t n = 0;
        while (cases[i].paths[n] != NULL) {
            n++;
        }
        graft_text_add_paths(&text, cases[i].paths, n);
        assert_false(text.failed);
        assert_string_equal(text.bytes, cases[i].words);
        graft_text_free(&text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_words)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* All recorded answers of the reference: encoding and decoding, at once and one id at a time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/json.h"
#include "tokenizer_fixture.h"

static int checks; /* so that a golden without content fails */

static void assert_ids(const graft_json *expected, const struct graft_ids *ids, const char *text) {
    checks++;
    assert_int_equal(graft_json_type(expected), GRAFT_JSON_ARRAY);
    int equal = graft_json_size(expected) == ids->n;
    for (size_t i = 0; equal && i < ids->n; i++) {
        equal = graft_json_int(graft_json_at(expected, i)) == ids->ids[i];
    }
    if (!equal) {
        print_message("\"%s\": expected", text);
        for (size_t i = 0; i < graft_json_size(expected); i++) {
            print_message(" %d", (int)graft_json_int(graft_json_at(expected, i)));
        }
        print_message(", got");
        for (size_t i = 0; i < ids->n; i++) {
            print_message(" %d", (int)ids->ids[i]);
        }
        fail_msg("ids differ");
    }
}

static void assert_text(const graft_json *expected, const struct graft_text *text) {
    size_t length;
    const char *bytes = graft_json_string(expected, &length);
    checks++;
    assert_non_null(bytes);
    if (text->length != length || memcmp(text->bytes, bytes, length) != 0) {
        fail_msg("expected \"%s\", got \"%s\"", bytes, text->bytes);
    }
}

static void check_encode(const struct graft_tokenizer *tokenizer, const graft_json *text, int add_special_tokens,
                         const graft_json *expected) {
    size_t length;
    const char *bytes = graft_json_string(text, &length);
    assert_non_null(bytes);
    struct graft_ids ids = encode(tokenizer, bytes, length, add_special_tokens);
    assert_ids(expected, &ids, bytes);
    graft_ids_free(&ids);
}

static void check_decode(const struct graft_tokenizer *tokenizer, const graft_json *list, int skip_special_tokens,
                         const graft_json *expected) {
    struct graft_ids ids = {0};
    for (size_t i = 0; i < graft_json_size(list); i++) {
        graft_ids_add(&ids, (int32_t)graft_json_int(graft_json_at(list, i)));
    }
    struct graft_text whole = decode(tokenizer, ids.ids, ids.n, skip_special_tokens);
    struct graft_text streamed = decode_streaming(tokenizer, ids.ids, ids.n, skip_special_tokens);
    assert_text(expected, &whole);
    assert_text(expected, &streamed);
    graft_text_free(&whole);
    graft_text_free(&streamed);
    graft_ids_free(&ids);
}

static void check_pair(const struct graft_tokenizer *tokenizer, const graft_json *pair) {
    struct graft_text_view first, second;
    struct graft_ids ids = {0}, types = {0};
    first.text = graft_json_string(graft_json_get(pair, "first"), &first.length);
    second.text = graft_json_string(graft_json_get(pair, "second"), &second.length);
    assert_int_equal(graft_tokenizer_encode_pair(tokenizer, &first, &second, 1, &ids, &types, NULL), GRAFT_OK);
    assert_ids(graft_json_get(pair, "ids"), &ids, first.text);
    assert_ids(graft_json_get(pair, "type_ids"), &types, first.text);
    graft_ids_free(&ids);
    graft_ids_free(&types);
}

static void check_tokenizer(const char *folder, const char *name) {
    struct graft_tokenizer *tokenizer = load_tokenizer(folder, name);
    char *path = data_path(folder, name);
    char *file = graft_format("%s/tokenizer_golden.json", path);
    graft_json *golden = NULL;
    checks = 0;
    print_message("%s\n", name);
    assert_int_equal(graft_json_read(file, 1 << 24, &golden, NULL), GRAFT_OK);
    const graft_json *strings = graft_json_get(golden, "strings");
    for (size_t i = 0; i < graft_json_size(strings); i++) {
        const graft_json *entry = graft_json_at(strings, i);
        const graft_json *ids = graft_json_get(entry, "ids");
        check_encode(tokenizer, graft_json_get(entry, "text"), 1, ids);
        check_encode(tokenizer, graft_json_get(entry, "text"), 0, graft_json_get(entry, "ids_no_special"));
        check_decode(tokenizer, ids, 0, graft_json_get(entry, "decoded"));
        check_decode(tokenizer, ids, 1, graft_json_get(entry, "decoded_skip_special"));
    }
    const graft_json *pairs = graft_json_get(golden, "pairs");
    for (size_t i = 0; i < graft_json_size(pairs); i++) {
        check_pair(tokenizer, graft_json_at(pairs, i));
    }
    const graft_json *decode_only = graft_json_get(golden, "decode_only");
    for (size_t i = 0; i < graft_json_size(decode_only); i++) {
        const graft_json *entry = graft_json_at(decode_only, i);
        check_decode(tokenizer, graft_json_get(entry, "ids"), 0, graft_json_get(entry, "decoded"));
    }
    assert_true(checks >= 40);
    graft_json_free(golden);
    graft_free(file);
    graft_free(path);
    graft_tokenizer_free(tokenizer);
}

static void test_model_families(void **state) {
    (void)state;
    assert_true(for_each_entry("goldens/tokenizers", check_tokenizer) >= 4);
}

static void test_variants(void **state) {
    (void)state;
    assert_true(for_each_entry("data/tokenizer/variants", check_tokenizer) >= 114);
}

/* Other files beside tokenizer.json, or instead of it. */
static void test_directories(void **state) {
    (void)state;
    assert_true(for_each_entry("data/tokenizer/directories", check_tokenizer) >= 44);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_model_families),
        cmocka_unit_test(test_variants),
        cmocka_unit_test(test_directories),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

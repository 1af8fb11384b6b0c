/* SPDX-License-Identifier: Apache-2.0 */
/* Single parts of the tokenizer, whose faults the whole would hide. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/utf8.h"
#include "folder.h"
#include "tokenizer/byte_alphabet.h"
#include "tokenizer/dialect.h"
#include "tokenizer/document.h"
#include "tokenizer/lexicon.h"
#include "tokenizer/map.h"
#include "tokenizer/score.h"
#include "tokenizer/segments.h"
#include "tokenizer/unicode.h"
#include "tokenizer/vocab.h"
#include "tokenizer_fixture.h"

static void test_map(void **state) {
    (void)state;
    struct graft_map map = {0};
    assert_null(graft_map_get(&map, 1));
    for (uint64_t i = 0; i < 10000; i++) {
        assert_int_equal(graft_map_set(&map, i << 32, i), 0);
    }
    assert_int_equal(graft_map_set(&map, 7ull << 32, 70), 0);
    assert_int_equal(map.count, 10000);
    assert_int_equal(*graft_map_get(&map, 7ull << 32), 70);
    assert_int_equal(*graft_map_get(&map, 9999ull << 32), 9999);
    assert_null(graft_map_get(&map, 1));
    graft_map_free(&map);
}

static void test_vocab(void **state) {
    (void)state;
    struct graft_vocab vocab = {0};
    assert_null(graft_vocab_find(&vocab, "", 0));
    assert_null(graft_vocab_find_id(&vocab, 0));
    for (int32_t i = 0; i < 3000; i++) {
        char text[32];
        int length = snprintf(text, sizeof text, "token number %d", (int)i);
        assert_int_equal(graft_vocab_add(&vocab, text, (size_t)length, INT32_MAX - i), 0);
    }
    assert_int_equal(graft_vocab_add(&vocab, "a\0b", 3, 5), 0);
    assert_int_equal(graft_vocab_find(&vocab, "a\0b", 3)->id, 5);
    assert_null(graft_vocab_find(&vocab, "a\0c", 3));
    assert_null(graft_vocab_find(&vocab, "token number 3000", 17));
    assert_int_equal(graft_vocab_find(&vocab, "token number 2999", 17)->id, INT32_MAX - 2999);
    assert_string_equal(graft_vocab_text(&vocab, graft_vocab_find_id(&vocab, INT32_MAX - 42)), "token number 42");
    assert_null(graft_vocab_find_id(&vocab, -1));
    graft_vocab_free(&vocab);
}

static void test_lexicon_longest(void **state) {
    (void)state;
    struct graft_lexicon lexicon = {0};
    struct graft_lexicon_entry entries[] = {{"abcd", 4, 1}, {"ab", 2, 2}, {"", 0, 7}, {"ab", 2, 3}};
    int32_t value = -1;
    assert_int_equal(graft_lexicon_longest(&lexicon, 0, "a", 1, &value), 0);
    assert_int_equal(graft_lexicon_build(&lexicon, entries, 4), 0);
    assert_int_equal(graft_lexicon_longest(&lexicon, 0, "abcx", 4, &value), 2);
    assert_int_equal(value, 3); /* of equal entries the largest */
    assert_int_equal(graft_lexicon_longest(&lexicon, 0, "abcde", 5, &value), 4);
    assert_int_equal(value, 1);
    assert_int_equal(graft_lexicon_longest(&lexicon, 0, "abcd", 3, &value), 2);
    assert_int_equal(graft_lexicon_longest(&lexicon, 0, "bcd", 3, &value), 0);
    assert_int_equal(graft_lexicon_longest(&lexicon, graft_lexicon_step(&lexicon, 0, 'a'), "bc", 2, &value), 1);
    graft_lexicon_free(&lexicon);
}

/* The lexicon finds exactly its entries, for all lengths and bytes, with many common beginnings. */
static void test_lexicon(void **state) {
    (void)state;
    enum { N = 20000, LONGEST = 8 };
    struct graft_lexicon_entry *entries = graft_alloc(N, sizeof *entries);
    char(*texts)[LONGEST] = graft_alloc(N, sizeof *texts);
    struct graft_vocab vocab = {0};
    struct graft_lexicon lexicon = {0};
    uint32_t seed = 1;
    for (size_t i = 0; i < N; i++) {
        uint32_t length = (uint32_t)(i % LONGEST) + 1;
        for (uint32_t k = 0; k < length; k++) {
            seed = seed * 1664525 + 1013904223;
            texts[i][k] = (char)(seed >> (i % 3 == 0 ? 24 : 30)); /* any byte, or one of four */
        }
        entries[i] = (struct graft_lexicon_entry){texts[i], length, (int32_t)i};
        if (graft_vocab_find(&vocab, texts[i], length) == NULL) {
            assert_int_equal(graft_vocab_add(&vocab, texts[i], length, (int32_t)vocab.count), 0);
        }
    }
    assert_int_equal(graft_lexicon_build(&lexicon, entries, N), 0);
    for (size_t i = 0; i < N; i++) {
        uint32_t node = 0;
        for (uint32_t k = 0; k < entries[i].length; k++) {
            node = graft_lexicon_step(&lexicon, node, entries[i].bytes[k]);
            assert_int_not_equal(node, 0);
        }
        int32_t value = lexicon.nodes[node].value;
        assert_true(value >= entries[i].value); /* of equal entries the largest */
        assert_int_equal(memcmp(texts[value], entries[i].bytes, entries[i].length), 0);
    }
    for (size_t i = 0; i < 200000; i++) { /* of random texts it has just those of the vocabulary */
        char text[LONGEST];
        uint32_t node = 0, length = 0;
        do {
            seed = seed * 1664525 + 1013904223;
            text[length] = (char)(seed >> (i % 3 == 0 ? 24 : 30));
            node = graft_lexicon_step(&lexicon, node, text[length++]);
            assert_int_equal(node != 0 && lexicon.nodes[node].value >= 0,
                             graft_vocab_find(&vocab, text, length) != NULL);
        } while (node != 0 && length < LONGEST);
    }
    graft_lexicon_free(&lexicon);
    graft_vocab_free(&vocab);
    graft_free(texts);
    graft_free(entries);
}

/* Scores as the reference reads them, which are not always the nearest doubles. */
static void test_score(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double score;
    } right[] = {
        {"0", 0.0},
        {"-0.0", -0.0},
        {"-13.518600463867188", -13.518600463867188},
        {"6.86483854179079738e+06", 6864838.541790796},
        {"5.89002257982551740e-19", 5.890022579825516e-19},
        {"1.2088995980580642e+39", 1.208899598058064e+39},
        {"-5.87851162064912964e-03", -0.0058785116206491305},
        {"2.841593666939481E210", 2.8415936669394807e+210},
        {"3.2459131194240045e-230", 3.245913119424004e-230},
        {"0e999999999999", 0.0},
        {"1e-400", 0.0},
        {"1e-309", 1e-309},
        {"99999999999999999999999.5", 1e23},
    };
    static const char *const wrong[] = {"",    "-",        ".5",    "1.",  "1e", "1e+", "+1", "1e309", "1e999999999999",
                                        "NaN", "Infinity", "\"1\"", "true"};
    struct graft_score_powers powers = {0};
    double score;
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++) {
        struct graft_json_cursor cursor = {right[i].text, strlen(right[i].text), 0};
        assert_int_equal(graft_score_read(&cursor, &powers, &score), 0);
        assert_memory_equal(&score, &right[i].score, sizeof score);
        assert_int_equal(cursor.at, cursor.length);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct graft_json_cursor cursor = {wrong[i], strlen(wrong[i]), 0};
        assert_int_equal(graft_score_read(&cursor, &powers, &score), -1);
    }
}

/* However a text is cut, the parts give the same as the whole. */
static void test_lossy_in_parts(void **state) {
    (void)state;
    static const char bytes[] = "a\xE6\x9C\xA8\xF0\x9F\x99\x82\xE6\x9C\xFF\xF0\x9F\xC3\xA9\xED\xA0\x80z\xF4\x8F\xBF";
    const size_t n = sizeof bytes - 1;
    struct graft_text whole = {0};
    assert_int_equal(graft_utf8_lossy(bytes, n, 1, &whole), n);
    assert_string_equal(whole.bytes, "a\u6728\U0001F642\uFFFD\uFFFD\uFFFD\u00E9\uFFFD\uFFFD\uFFFDz\uFFFD");
    for (size_t cut = 0; cut <= n; cut++) {
        struct graft_text parts = {0};
        size_t done = graft_utf8_lossy(bytes, cut, 0, &parts);
        assert_true(cut - done <= 3);
        (void)graft_utf8_lossy(bytes + done, n - done, 1, &parts);
        assert_string_equal(parts.bytes, whole.bytes);
        graft_text_free(&parts);
    }
    graft_text_free(&whole);
}

static void test_byte_alphabet(void **state) {
    (void)state;
    for (int byte = 0; byte < 256; byte++) {
        uint32_t code = graft_byte_to_character((unsigned char)byte);
        assert_int_equal(graft_byte_from_character(code), byte);
        assert_true(code > 0x20 && code != 0x7F && !(code >= 0x80 && code <= 0xA0) && code != 0xAD && code <= 0x143);
    }
    assert_int_equal(graft_byte_to_character(' '), 0x120);
    assert_int_equal(graft_byte_to_character(0xAD), 0x143);
    assert_int_equal(graft_byte_from_character(' '), -1);
    assert_int_equal(graft_byte_from_character(0x144), -1);
}

static void assert_normal(enum graft_unicode_form form, const char *text, const char *expected) {
    struct graft_text out = {0};
    graft_unicode_normalize(form, text, strlen(text), &out);
    assert_string_equal(out.bytes, expected);
    graft_text_free(&out);
}

static void test_normalization(void **state) {
    (void)state;
    assert_normal(GRAFT_UNICODE_NFC, "e\u0301 \u212B", "\u00E9 \u00C5");
    assert_normal(GRAFT_UNICODE_NFC, "a\u0301\u0323", "\u1EA1\u0301"); /* the lower mark comes first */
    assert_normal(GRAFT_UNICODE_NFC, "\u0958", "\u0915\u093C");        /* excluded from composition */
    assert_normal(GRAFT_UNICODE_NFC, "\u1112\u1161\u11AB", "\uD55C");
    assert_normal(GRAFT_UNICODE_NFD, "\uD55C\u1E69", "\u1112\u1161\u11ABs\u0323\u0307");
    assert_normal(GRAFT_UNICODE_NFKC, "\uFB01\u2460\u1E9B\u0323", "fi1\u1E69");
    assert_normal(GRAFT_UNICODE_NFKD, "\u1E9B\u0323\uFDFA",
                  "s\u0323\u0307\u0635\u0644\u0649 \u0627\u0644\u0644\u0647 "
                  "\u0639\u0644\u064A\u0647 \u0648\u0633\u0644\u0645");
}

static void test_split_behaviors(void **state) {
    (void)state;
    static const struct {
        enum graft_split_behavior behavior;
        const char *pieces; /* of "the-final--countdown", with a bar between them */
    } cases[] = {
        {GRAFT_SPLIT_REMOVED, "the|final|countdown"},
        {GRAFT_SPLIT_ISOLATED, "the|-|final|-|-|countdown"},
        {GRAFT_SPLIT_MERGED_WITH_PREVIOUS, "the-|final-|-|countdown"},
        {GRAFT_SPLIT_MERGED_WITH_NEXT, "the|-final|-|-countdown"},
        {GRAFT_SPLIT_CONTIGUOUS, "the|-|final|--|countdown"},
    };
    static const char text[] = "the-final--countdown";
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct graft_segments segments = {0};
        struct graft_pieces pieces = {0};
        struct graft_text joined = {0};
        graft_segments_by_character(&segments, text, sizeof text - 1, graft_unicode_is_punctuation);
        graft_segments_split(&segments, cases[i].behavior, text, 1, &pieces);
        for (size_t k = 0; k < pieces.n; k++) {
            graft_text_add(&joined, "|", k > 0);
            graft_text_add(&joined, graft_piece_text(&pieces, &pieces.items[k]), pieces.items[k].length);
            assert_int_equal(pieces.items[k].first, k == 0);
        }
        assert_string_equal(joined.bytes, cases[i].pieces);
        graft_text_free(&joined);
        graft_pieces_free(&pieces);
        graft_segments_free(&segments);
    }
}

static void test_dialect(void **state) {
    (void)state;
    static const struct {
        const char *expression;
        const char *rewritten; /* NULL if it is refused */
    } cases[] = {
        {"[^\\r\\n\\p{L}]?\\p{Lu}+|\\s+(?!\\S)|[^\\s]",
         "[^\\r\\n\\p{L}]?\\p{Lu}+|\\p{White_Space}+(?!\\P{White_Space})|"
         "[^\\p{White_Space}]"},
        {"\\p{Han}\\P{^Latin}\\p{Alphabetic}", "\\p{sc:Han}\\P{^sc:Latin}\\p{Alphabetic}"},
        {"(?i:'s|'t)$", "(?i:'s|'t)(?m:$)"},
        {"(?i)a", "(?i)a"},
        {"[]^$.][^]\\]a-z]^", "[\\]\\^$.][^\\]\\]a-z](?m:^)"},
        {"\\u00e9\\\\u", "\\x{00e9}\\\\u"},
        {"{a}{1,3}", "\\{a}{1,3}"},
        {"(?im-m:a.)", "(?is-s:a.)"},
        {"(?-i:a)(b)", "(?-i:a)(b)"},
        {"[[:alpha:][:^digit:]]", "[\\p{Alphabetic}\\P{Nd}]"},
        {"[a[^b]]", "(?:[a]|[^b])"},
        {"[a-z&&[^b]]", "(?:(?=[a-z])(?:[^b]))"},
        {"[^a&&b[c]^]", "(?:(?!(?=[a])(?:[b\\^]|[c]))(?s:.))"},
        {"[\\H]", "(?:[^0-9A-Fa-f])"},
        {"[\\S\\b]", "[\\P{White_Space}\\x{08}]"},
        {"\\h\\H", "[0-9A-Fa-f][^0-9A-Fa-f]"},
        {"\\p{^Letter}\\P{Upper_case}\\p{ASCII}", "\\P{L}\\P{Uppercase}[\\x{00}-\\x{7F}]"},
        {"[[:punct:]]\\p{Punct}", "[\\p{P}\\p{S}]\\p{P}"},
        {"[\\w]", "[\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}]"},
        {"a{,3}", "a{0,3}"},
        {"xa{1,3}+", "x(?:a{1,3})+"},
        {"x(a(b)){2,}+", "x(?:(a(b)){2,})+"},
        {"x\u00e9{2}?[a-c]{2,}?", "x(?:\u00e9{2})?[a-c]{2,}?"},
        {"(a){2}{,3}+", "(?:(a){2}{0,3})+"},
        {"a(?i)b", NULL},
        {"(?x: a)", NULL},
        {"[a&&]", NULL},
        {"[[:nothing:]]", NULL},
        {"[[a]", NULL},
        {"(?#a)", NULL},
        {"(*FAIL)", NULL},
        {"\\Kx", NULL},
        {"\\pL", NULL},
        {"\\p{L", NULL},
        {"\\u12", NULL},
    };
    struct graft_field spec = {NULL, "file", NULL, NULL, 0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct graft_text out = {0};
        int status = graft_dialect_rewrite(cases[i].expression, strlen(cases[i].expression), &out, &spec, NULL);
        assert_int_equal(status, cases[i].rewritten != NULL ? GRAFT_OK : GRAFT_ERROR_MODEL);
        if (cases[i].rewritten != NULL) {
            assert_string_equal(out.bytes, cases[i].rewritten);
        }
        graft_text_free(&out);
    }
}

/* The two large members are cut out wherever they are, and errors in the rest still name the right line. */
static void test_document(void **state) {
    (void)state;
    static const char text[] = "{\"a\": {\"vocab\": {\"x\": 1}},\n\"model\": {\"merges\": [\n[\"]\", \"}\"]],\n"
                               "\"n\": [1], \"vocab\": {\"}\": 1,\n\"b\": 2}}, \"vocab\": {\"y\": 1}}";
    char folder[64];
    struct graft_document document = {0};
    struct graft_error error = graft_error_none();
    folder_create(folder);
    folder_put(folder, "tokenizer.json", text, sizeof text - 1);
    assert_int_equal(graft_document_read(&document, folder_path(folder, "tokenizer.json"), &error), GRAFT_OK);
    char *rest = graft_json_dump(document.rest, 0);
    assert_string_equal(rest,
                        "{\"a\": {\"vocab\": {\"x\": 1}}, \"model\": {\"merges\": [], \"n\": [1], \"vocab\": {}}, "
                        "\"vocab\": {\"y\": 1}}");
    assert_int_equal(document.merges.length, 13);
    assert_memory_equal(document.merges.text, "[\n[\"]\", \"}\"]]", 13);
    assert_memory_equal(document.vocab.text, "{\"}\": 1,\n\"b\": 2}", 16);
    graft_free(rest);
    graft_document_finish(&document);
    folder_put(folder, "tokenizer.json", text, sizeof text - 2);
    assert_int_equal(graft_document_read(&document, folder_path(folder, "tokenizer.json"), &error), GRAFT_ERROR_MODEL);
    assert_non_null(strstr(error.message, "line 5 "));
    graft_document_finish(&document);
    folder_remove(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_map),
        cmocka_unit_test(test_vocab),
        cmocka_unit_test(test_lexicon_longest),
        cmocka_unit_test(test_lexicon),
        cmocka_unit_test(test_score),
        cmocka_unit_test(test_lossy_in_parts),
        cmocka_unit_test(test_byte_alphabet),
        cmocka_unit_test(test_normalization),
        cmocka_unit_test(test_split_behaviors),
        cmocka_unit_test(test_dialect),
        cmocka_unit_test(test_document),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

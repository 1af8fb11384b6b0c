/* SPDX-License-Identifier: Apache-2.0 */
/* Tokenizers of the test data, and their answers. Include it after cmocka.h. */
#ifndef GRAFT_TEST_TOKENIZER_FIXTURE_H
#define GRAFT_TEST_TOKENIZER_FIXTURE_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "graft/host/tokenizer.h"

/* The caller frees the path. */
static inline char *data_path(const char *folder, const char *name) {
    const char *data = getenv("GRAFT_TEST_DATA");
    assert_non_null(data);
    return graft_format("%s/%s/%s", data, folder, name);
}

static inline struct graft_tokenizer *load_tokenizer(const char *folder, const char *name) {
    struct graft_error error = graft_error_none();
    struct graft_tokenizer *tokenizer = NULL;
    char *path = data_path(folder, name);
    if (graft_tokenizer_load(path, &tokenizer, &error) != GRAFT_OK) {
        fail_msg("%s: %s", error.source, error.message);
    }
    graft_free(path);
    return tokenizer;
}

/* Calls `visit` with the name of each entry of a folder of the test data; returns their number. */
static inline int for_each_entry(const char *folder, void (*visit)(const char *folder, const char *name)) {
    char *path = data_path(folder, ".");
    DIR *entries = opendir(path);
    struct dirent *entry;
    int n = 0;
    assert_non_null(entries);
    while ((entry = readdir(entries)) != NULL) {
        if (entry->d_name[0] != '.') {
            visit(folder, entry->d_name);
            n++;
        }
    }
    (void)closedir(entries);
    graft_free(path);
    return n;
}

static inline struct graft_text decode(const struct graft_tokenizer *tokenizer, const int32_t *ids, size_t n,
                                       int skip_special_tokens) {
    struct graft_text text = {0};
    assert_int_equal(graft_tokenizer_decode(tokenizer, ids, n, skip_special_tokens, &text, NULL), GRAFT_OK);
    graft_text_add(&text, "", 0);
    return text;
}

/* Decodes one id at a time, and checks that every step returns whole characters. */
static inline struct graft_text decode_streaming(const struct graft_tokenizer *tokenizer, const int32_t *ids, size_t n,
                                                 int skip_special_tokens) {
    struct graft_text text = {0};
    struct graft_decode_stream *stream;
    const char *bytes;
    size_t length;
    assert_int_equal(graft_decode_stream_create(tokenizer, skip_special_tokens, &stream, NULL), GRAFT_OK);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(graft_decode_stream_push(stream, ids[i], &bytes, &length, NULL), GRAFT_OK);
        assert_int_equal(graft_utf8_valid_prefix(bytes, length), length);
        graft_text_add(&text, bytes, length);
    }
    assert_int_equal(graft_decode_stream_end(stream, &bytes, &length, NULL), GRAFT_OK);
    graft_text_add(&text, bytes, length);
    graft_decode_stream_destroy(stream);
    return text;
}

static inline struct graft_ids encode(const struct graft_tokenizer *tokenizer, const char *text, size_t length,
                                      int add_special_tokens) {
    struct graft_ids ids = {0};
    assert_int_equal(graft_tokenizer_encode(tokenizer, text, length, add_special_tokens, &ids, NULL), GRAFT_OK);
    return ids;
}

#endif

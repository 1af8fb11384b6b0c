/* SPDX-License-Identifier: Apache-2.0 */
/* Grammars for a small vocabulary: a token for each byte, so that every text can be written, and some longer tokens,
 * whose bytes cross the borders of a grammar's parts. */
#ifndef GRAFT_TEST_GRAMMAR_FIXTURE_H
#define GRAFT_TEST_GRAMMAR_FIXTURE_H

#include <string.h>

#include "base/alloc.h"
#include "grammar/matcher.h"

static const char *const fixture_tokens[] = {
    "ab",  "abc",  "{\"",   "\":", "\":\"",        "\",\"",    "\"}",  "}}",    "]}",     "[[",     "true",
    "tru", "null", "12",    "123", "0.",           "\xE4\xBD", "\xA0", "a\xC3", "\xA4\"", "\\u",    "\\\"",
    "  ",  "\n",   "},{\"", "\\",  "\xF0\x9F\x98", "\x80\x80", "aa",   "aaa",   "aaaa",   "\"a\":", "-1",
    "e5",  "1.5e", "x y",   "",    "2020-",        "\"\"",     "[]",
};

enum { FIXTURE_BYTES = 256, FIXTURE_MORE = sizeof fixture_tokens / sizeof *fixture_tokens };
/* The end-of-sequence token, and two ids without bytes, as models have after their tokens. */
enum { FIXTURE_END = FIXTURE_BYTES + FIXTURE_MORE, FIXTURE_SIZE = FIXTURE_END + 3 };

static inline struct graft_trie *fixture_trie(void) {
    size_t *places = graft_alloc(FIXTURE_SIZE + 1, sizeof *places);
    char *bytes = graft_alloc(4096, 1);
    size_t n = 0;
    if (places == NULL || bytes == NULL) {
        graft_free(places);
        graft_free(bytes);
        return NULL;
    }
    for (int i = 0; i < FIXTURE_SIZE; i++) {
        places[i] = n;
        if (i < FIXTURE_BYTES) {
            bytes[n++] = (char)i;
        } else if (i < FIXTURE_END) {
            const char *token = fixture_tokens[i - FIXTURE_BYTES];
            memcpy(bytes + n, token, strlen(token));
            n += strlen(token);
        }
    }
    places[FIXTURE_SIZE] = n;
    return graft_trie_create(bytes, places, FIXTURE_SIZE);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "generate/stop_strings.h"

#include <string.h>

/* Whether the string occurs in the text with its end after the first `before` bytes. */
static int ends_after(const struct graft_text *text, size_t before, const char *string) {
    const size_t length = strlen(string);
    for (size_t end = before + 1; end <= text->length; end++) {
        if (end >= length && memcmp(text->bytes + end - length, string, length) == 0) {
            return 1;
        }
    }
    return 0;
}

/* The index of the first token in which a stop string that ends in the last token may begin. Tokens without bytes are
 * counted like tokens with one. */
static size_t first_token(const char *const *strings, size_t n, size_t count) {
    size_t longest = 0;
    for (size_t i = 0; i < n; i++) {
        size_t length = strlen(strings[i]);
        longest = length > longest ? length : longest;
    }
    return count > longest ? count - longest : 0;
}

int graft_stop_strings_check(const struct graft_token_texts *texts, const char *const *strings, size_t n,
                             const int32_t *ids, size_t count, int *is_hit, struct graft_error *error) {
    struct graft_text text = {0};
    size_t before = 0;
    int status = GRAFT_OK;
    for (size_t i = first_token(strings, n, count); i < count && status == GRAFT_OK; i++) {
        before = text.length;
        status = texts->add(texts->data, ids[i], &text, error);
    }
    if (status == GRAFT_OK && text.failed) {
        status = graft_fail_memory(error, "generation");
    }
    for (size_t i = 0; i < n && status == GRAFT_OK && !*is_hit; i++) {
        *is_hit = ends_after(&text, before, strings[i]);
    }
    graft_text_free(&text);
    return status;
}

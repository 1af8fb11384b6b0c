/* SPDX-License-Identifier: Apache-2.0 */
#include "tokenizer/decoder_text.h"

#include <string.h>

#include "base/utf8.h"

static int starts_with(const char *bytes, size_t length, const char *with, size_t with_length) {
    return length >= with_length && memcmp(bytes, with, with_length) == 0;
}

void graft_decoder_replace(const char *bytes, size_t length, const struct graft_text *from, const char *to,
                           struct graft_text *out) {
    for (size_t at = 0; at < length;) {
        uint32_t code;
        size_t n = graft_utf8_read(bytes + at, &code);
        if (from->length == 0) {
            graft_text_add_string(out, to);
            graft_text_add(out, bytes + at, n);
        } else if (starts_with(bytes + at, length - at, from->bytes, from->length)) {
            graft_text_add_string(out, to);
            n = from->length;
        } else {
            graft_text_add(out, bytes + at, n);
        }
        at += n;
    }
    if (from->length == 0) {
        graft_text_add_string(out, to);
    }
}

/* Replaces every `from` in the text by `to`, which must not be longer. */
static void replace_all(struct graft_text *text, const char *from, const char *to) {
    size_t from_length = strlen(from), to_length = strlen(to), kept = 0;
    for (size_t at = 0; at < text->length;) {
        if (starts_with(text->bytes + at, text->length - at, from, from_length)) {
            memcpy(text->bytes + kept, to, to_length);
            kept += to_length;
            at += from_length;
        } else {
            text->bytes[kept++] = text->bytes[at++];
        }
    }
    text->length = kept;
}

/* The order matters: each replacement works on the result of those before it. */
void graft_decoder_clean_up(struct graft_text *text) {
    static const char *const pairs[][2] = {{" .", "."},   {" ?", "?"},     {" !", "!"},    {" ,", ","},
                                           {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},  {" do not", " don't"},
                                           {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0] && !text->failed; i++) {
        replace_all(text, pairs[i][0], pairs[i][1]);
    }
}

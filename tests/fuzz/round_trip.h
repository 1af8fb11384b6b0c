/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of fuzz targets that load a tokenizer. */
#ifndef GRAFT_TESTS_FUZZ_ROUND_TRIP_H
#define GRAFT_TESTS_FUZZ_ROUND_TRIP_H

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "fuzz/target.h"
#include "graft/host/tokenizer.h"

/* Decodes one id at a time. */
static inline int fuzz_stream(const struct graft_tokenizer *tokenizer, const struct graft_ids *ids,
                              struct graft_text *text) {
    struct graft_decode_stream *stream;
    const char *bytes;
    size_t length;
    int status = graft_decode_stream_create(tokenizer, 0, &stream, NULL);
    for (size_t i = 0; status == GRAFT_OK && i <= ids->n; i++) {
        status = i < ids->n ? graft_decode_stream_push(stream, ids->ids[i], &bytes, &length, NULL)
                            : graft_decode_stream_end(stream, &bytes, &length, NULL);
        if (status == GRAFT_OK) {
            graft_text_add(text, bytes, length);
        }
    }
    graft_decode_stream_destroy(stream);
    return status;
}

/* Encodes and decodes: a pair has a type for each id, and decoding one id at a time gives the same text as decoding all
 * at once. */
static inline void fuzz_round_trip(const struct graft_tokenizer *tokenizer) {
    /* Letters, marks, white space, invalid bytes; jamo, Han, kana, and an emoji of several characters. */
    static const char text[] =
        "It's 1987:  gr\xc3\xb6\xc3\x9f"
        "e \xf0\x9f\x99\x82 <|im_start|>\n\xff!\r\n\xe2\x96\x81 e\xcc\x81\xcc\xa3 \xe1\x84\x92\xe1\x85\xa1 "
        "\xe6\x9c\xa8\xe3\x81\x82 \xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x91\xa7";
    const struct graft_text_view view = {text, sizeof text - 1};
    struct graft_ids ids = {0}, pair = {0}, types = {0};
    struct graft_text decoded = {0}, streamed = {0};
    int status = graft_tokenizer_encode_pair(tokenizer, &view, &view, 1, &pair, &types, NULL);
    if (status == GRAFT_OK && pair.n != types.n) {
        abort();
    }
    status = graft_tokenizer_encode(tokenizer, text, sizeof text - 1, 1, &ids, NULL);
    if (status == GRAFT_OK) {
        status = graft_tokenizer_decode(tokenizer, ids.ids, ids.n, 0, &decoded, NULL);
    }
    if (status == GRAFT_OK) {
        status = fuzz_stream(tokenizer, &ids, &streamed);
    }
    if (status == GRAFT_OK && (streamed.length != decoded.length ||
                               (decoded.length > 0 && memcmp(streamed.bytes, decoded.bytes, decoded.length) != 0))) {
        abort();
    }
    graft_ids_free(&ids);
    graft_ids_free(&pair);
    graft_ids_free(&types);
    graft_text_free(&decoded);
    graft_text_free(&streamed);
}

/* Loads the tokenizer of fuzz_folder(), which fails with a message or encodes and decodes. */
static inline int fuzz_load_tokenizer(void) {
    struct graft_error error = graft_error_none();
    struct graft_tokenizer *tokenizer = NULL;
    if (graft_tokenizer_load(fuzz_folder(), &tokenizer, &error) == GRAFT_OK) {
        fuzz_round_trip(tokenizer);
    } else if (error.message[0] == '\0') {
        abort();
    }
    graft_tokenizer_free(tokenizer);
    return 0;
}

#endif

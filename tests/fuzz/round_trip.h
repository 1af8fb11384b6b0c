/* SPDX-License-Identifier: Apache-2.0 */
/* What every fuzz target of tokenizers does with one that loads. */
#ifndef GRAFT_TESTS_FUZZ_ROUND_TRIP_H
#define GRAFT_TESTS_FUZZ_ROUND_TRIP_H

#include <stdlib.h>

#include "fuzz/target.h"
#include "graft/host/tokenizer.h"

static inline void fuzz_round_trip(const struct graft_tokenizer *tokenizer) {
    static const char text[] = "It's 1987:  gr\xc3\xb6\xc3\x9f"
                               "e \xf0\x9f\x99\x82 <|im_start|>\n\xff!";
    struct graft_ids ids = {0};
    struct graft_text decoded = {0};
    if (graft_tokenizer_encode(tokenizer, text, sizeof text - 1, 1, &ids, NULL) == GRAFT_OK) {
        (void)graft_tokenizer_decode(tokenizer, ids.ids, ids.n, 0, &decoded, NULL);
    }
    graft_ids_free(&ids);
    graft_text_free(&decoded);
}

/* Loads the tokenizer of fuzz_folder(), which says what is wrong or encodes and decodes. */
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

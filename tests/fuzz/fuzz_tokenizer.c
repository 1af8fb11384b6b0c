/* SPDX-License-Identifier: Apache-2.0 */
/* tokenizer.json: what loads also encodes and decodes. */
#include <stdlib.h>

#include "fuzz/target.h"
#include "graft/host/tokenizer.h"

static void round_trip(const struct graft_tokenizer *tokenizer) {
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

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    struct graft_error error = graft_error_none();
    struct graft_tokenizer *tokenizer = NULL;
    (void)fuzz_file("tokenizer.json", bytes, size);
    if (graft_tokenizer_load(fuzz_folder(), &tokenizer, &error) == GRAFT_OK) {
        round_trip(tokenizer);
    } else if (error.message[0] == '\0') {
        abort();
    }
    graft_tokenizer_free(tokenizer);
    return 0;
}

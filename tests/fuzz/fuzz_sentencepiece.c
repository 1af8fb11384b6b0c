/* SPDX-License-Identifier: Apache-2.0 */
/* A SentencePiece model without tokenizer.json, read by tokenizer classes of all kinds: one that loads also encodes and
 * decodes. */
#include <stdio.h>
#include <string.h>

#include "fuzz/round_trip.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static const char *const classes[] = {"LlamaTokenizer", "TokenizersBackend", "T5Tokenizer", "CamembertTokenizer"};
    char config[64];
    (void)snprintf(config, sizeof config, "{\"tokenizer_class\": \"%s\"}",
                   classes[size % (sizeof classes / sizeof classes[0])]);
    (void)fuzz_file("tokenizer_config.json", (const uint8_t *)config, strlen(config));
    (void)fuzz_file("tokenizer.model", bytes, size);
    return fuzz_load_tokenizer();
}

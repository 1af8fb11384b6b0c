/* SPDX-License-Identifier: Apache-2.0 */
/* The files beside tokenizer.json, and those that replace it. An input contains them one after another, each with a NUL
 * after it; an empty one is left out. If there is a vocabulary, there is no tokenizer.json. */
#include <string.h>
#include <unistd.h>

#include "fuzz/round_trip.h"

static const char *const names[] = {"tokenizer_config.json",
                                    "special_tokens_map.json",
                                    "added_tokens.json",
                                    "config.json",
                                    "vocab.json",
                                    "merges.txt",
                                    "vocab.txt"};

enum { N_NAMES = sizeof names / sizeof names[0], FIRST_VOCABULARY = 4 };

static const char document[] =
    "{\"added_tokens\": [{\"id\": 4, \"content\": \"<s>\", \"special\": true}, {\"id\": 5, \"content\": \"It\", "
    "\"normalized\": true}], \"normalizer\": {\"type\": \"Lowercase\"}, \"model\": {\"type\": \"BPE\", \"vocab\": "
    "{\"i\": 0, "
    "\"t\": 1, \"it\": 2, \"s\": 3}, \"merges\": [\"i t\"]}}";

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    int has_vocabulary = 0;
    size_t at = 0;
    for (size_t i = 0; i < N_NAMES; i++) {
        const uint8_t *end = at < size ? memchr(bytes + at, '\0', size - at) : NULL;
        size_t length = at < size ? (end != NULL ? (size_t)(end - bytes) : size) - at : 0;
        const char *path = fuzz_file(names[i], bytes + at, length);
        if (length == 0) {
            (void)unlink(path);
        }
        has_vocabulary |= length > 0 && i >= FIRST_VOCABULARY;
        at += length + 1;
    }
    const char *path = fuzz_file("tokenizer.json", (const uint8_t *)document, sizeof document - 1);
    if (has_vocabulary) {
        (void)unlink(path);
    }
    return fuzz_load_tokenizer();
}

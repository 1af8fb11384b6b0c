/* SPDX-License-Identifier: Apache-2.0 */
/* tokenizer.json: a tokenizer that loads also encodes and decodes. */
#include "fuzz/round_trip.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    (void)fuzz_file("tokenizer.json", bytes, size);
    return fuzz_load_tokenizer();
}

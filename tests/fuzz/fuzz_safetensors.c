/* SPDX-License-Identifier: Apache-2.0 */
/* A whole safetensors file: whatever it says, views lie inside it. */
#include <stdlib.h>

#include "fuzz/target.h"
#include "weights/safetensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    struct graft_error error = graft_error_none();
    struct graft_safetensors *file = NULL;
    if (graft_safetensors_open(fuzz_file("model.safetensors", bytes, size), &file, &error) != GRAFT_OK) {
        return error.message[0] != '\0' ? 0 : (abort(), 0);
    }
    volatile uint8_t sum = 0;
    for (size_t i = 0; i < graft_safetensors_count(file); i++) {
        const struct graft_tensor_view *view = graft_safetensors_at(file, i);
        for (int64_t j = 0; j < view->bytes; j++) {
            sum = (uint8_t)(sum + ((const uint8_t *)view->data)[j]);
        }
    }
    graft_safetensors_close(file);
    return 0;
}

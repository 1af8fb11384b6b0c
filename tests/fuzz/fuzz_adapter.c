/* SPDX-License-Identifier: Apache-2.0 */
/* adapter_config.json, beside valid tensors, applied to a model. */
#include "fuzz/model.h"
#include "fuzz/target.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    fuzz_link(GRAFT_FUZZ_ADAPTERS "/llama/adapters/patterns_rslora/adapter_model.safetensors",
              "adapter_model.safetensors");
    (void)fuzz_file("adapter_config.json", bytes, size);
    fuzz_model(GRAFT_FUZZ_ADAPTERS "/llama", fuzz_folder());
    return 0;
}

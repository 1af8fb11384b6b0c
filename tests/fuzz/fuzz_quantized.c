/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes config.json of quantized checkpoints whose weights are valid: the plugin of each method reads it. */
#include <string.h>

#include "fuzz/model.h"
#include "fuzz/target.h"

static const char *const checkpoints[][2] = {
    {"\"auto-round\"", GRAFT_FUZZ_MODELS "/quantized/auto_round_gptq_mixed_llama/model.safetensors"},
    {"\"awq\"", GRAFT_FUZZ_MODELS "/quantized/awq_int4_llama/model.safetensors"},
    {"\"gptq_v2\"", GRAFT_FUZZ_MODELS "/quantized/gptq_v2_int4_asym_desc_act_llama/model.safetensors"},
    {"\"Qwen2ForCausalLM\"", GRAFT_FUZZ_MODELS "/quantized/gptq_int8_qwen2/model.safetensors"},
    {"\"nvfp4-pack-quantized\"", GRAFT_FUZZ_MODELS "/quantized/ct_nvfp4_qwen3/model.safetensors"},
    {"\"compressed-tensors\"", GRAFT_FUZZ_MODELS "/quantized/ct_mixed_qwen3/model.safetensors"},
    {"\"fp8\"", GRAFT_FUZZ_MODELS "/quantized/fp8_e8m0_llama/model.safetensors"},
    {"\"mxfp8\"", GRAFT_FUZZ_MODELS "/quantized/mxfp8_qwen3/model.safetensors"},
    {"\"modelopt\"", GRAFT_FUZZ_MODELS "/quantized/modelopt_nvfp4_qwen3_moe/model.safetensors"},
    {"", GRAFT_FUZZ_MODELS "/quantized/gptq_int4_desc_act_llama/model.safetensors"},
};

static int holds(const uint8_t *bytes, size_t size, const char *word) {
    size_t length = strlen(word);
    for (size_t at = 0; at + length <= size; at++) {
        if (memcmp(bytes + at, word, length) == 0) {
            return 1;
        }
    }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    size_t i = 0;
    while (!holds(bytes, size, checkpoints[i][0]) && checkpoints[i][0][0] != '\0') {
        i++;
    }
    fuzz_link(checkpoints[i][1], "model.safetensors");
    (void)fuzz_file("config.json", bytes, size);
    fuzz_model(fuzz_folder(), NULL);
    return 0;
}

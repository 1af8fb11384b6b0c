#!/bin/sh
# What an AWQ checkpoint may have wrong is an error that names the field. The build's goldens hold logits, exact weights
# and saving.
# usage: test.sh HOST PLUGINS_FOLDER GOLDENS_FOLDER
. "$(dirname "$0")/../../tests/quantized.sh"
sound=awq_int4_llama

bad '"bits": 4' '"bits": 8' config.json quantization_config.bits 'expected 4, got 8'
bad '"version": "gemm"' '"version": "gemv"' config.json quantization_config.version gemv
bad '"group_size": 128' '"group_size": 64' qzeros
bad '"version": "gemm"' '"format": "llm-awq"' config.json 'quantization_config.format: expected "gemm", got "llm-awq"'
bad '"version": "gemm"' '"version": "gemm", "format": "gemv"' config.json 'quantization_config.format: expected the value of'
bad '"version": "gemm"' '"backend": "llm-awq"' config.json 'quantization_config.backend: the layout of "llm-awq"'
bad '"version": "gemm"' '"pack_dtype": "int16"' config.json 'quantization_config.pack_dtype: expected "int32"'

also() { # also FROM TO: with that edit, the same ids
    fresh
    one=$(run)
    config "$1" "$2"
    same "$2"
}

also '"version": "gemm"' '"version": "GEMM"'
also '"version": "gemm"' '"format": "gemm"'
also '"bits": 4' '"w_bit": 4'
also '"group_size": 128' '"q_group_size": 128'
also '"quant_method": "awq"' '"quant_method": "AWQ"'

sound=auto_round_awq_llama
also '"packing_format": "auto_round:auto_awq"' '"backend": "auto_round:awq:gemm"'
bad '"extra_config": {' '"extra_config": {".*up_proj": {"bits": 8},' config.json quantization_config.bits \
    'expected 4, got 8 (model.layers.0.mlp.'
bad '"bits": 4' '"bits": 4, "act_bits": 8' config.json 'quantization_config.act_bits: expected 16, got 8'
bad '"auto_round:auto_awq"' '"auto_round:awq_v2"' config.json \
    'quantization_config.packing_format: no plugin here reads "auto_round:awq_v2" of quant_method "auto-round"'

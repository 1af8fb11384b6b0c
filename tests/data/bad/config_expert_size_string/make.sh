start_from qwen2_moe
config moe_intermediate_size '"32"'

start_from qwen2_moe
config num_experts 0

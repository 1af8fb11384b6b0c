start_from qwen2_moe
config mlp_only_layers '["0"]'

start_from qwen2_moe
header s/layers.0.mlp.experts.5./layers.0.mlp.experts.7./g

start_from qwen2_moe
header s/layers.1.mlp.experts.5.up_proj/layers.1.mlp.experts.5.upp_proj/

start_from qwen2_moe
config decoder_sparse_step '"1"'

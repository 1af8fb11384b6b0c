without head_dim
config num_attention_heads 5

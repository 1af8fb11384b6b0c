start_from ../encoders/bert_mlm
config num_attention_heads 5

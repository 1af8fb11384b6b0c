start_from ../encoders/bert_mlm
config max_position_embeddings 999999999999

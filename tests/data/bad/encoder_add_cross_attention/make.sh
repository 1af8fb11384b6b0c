start_from ../encoders/bert_mlm
config add_cross_attention true

start_from ../encoders/bert_mlm
config is_decoder true

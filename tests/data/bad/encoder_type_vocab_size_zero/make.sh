start_from ../encoders/bert_mlm
config type_vocab_size 0

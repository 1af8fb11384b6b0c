start_from ../encoders/bert_mlm

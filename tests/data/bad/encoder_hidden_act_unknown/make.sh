start_from ../encoders/bert_mlm
config hidden_act '"geglu"'

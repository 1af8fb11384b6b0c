start_from ../encoders/bert_mlm
config layer_norm_eps '"1e-12"'

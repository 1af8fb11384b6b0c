start_from ../encoders/bert_mlm
edit model/tokenizer_config.json 's/"mask_token": "[^"]*"/"mask_token": "<mask>"/'

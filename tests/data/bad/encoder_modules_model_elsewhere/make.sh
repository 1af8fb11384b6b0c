start_from ../encoders/bert_sentence
edit model/modules.json 's/"path": ""/"path": "0_BERT"/'

start_from ../encoders/bert_sentence
edit model/sentence_bert_config.json 's/false/true/'

start_from ../encoders/bert_sentence
edit model/modules.json 's/"1_Pooling"/"..\/1_Pooling"/'

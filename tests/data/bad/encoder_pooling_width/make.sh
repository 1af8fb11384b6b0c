start_from ../encoders/bert_sentence
edit model/1_Pooling/config.json 's/"word_embedding_dimension": 12/"word_embedding_dimension": 768/'

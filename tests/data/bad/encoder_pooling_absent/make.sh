start_from ../encoders/bert_sentence
rm model/1_Pooling/config.json

start_from ../encoders/bert_sentence
sed -i 's/true/false/' model/1_Pooling/config.json

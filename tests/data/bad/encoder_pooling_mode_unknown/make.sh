start_from ../encoders/bert_sentence
echo '{"pooling_mode": "median"}' >model/1_Pooling/config.json

start_from ../encoders/bert_sentence
echo '{}' >model/modules.json

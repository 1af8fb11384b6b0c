start_from ../encoders/bert_classifier
edit model/config.json 's/"1": "middling"/"7": "middling"/'

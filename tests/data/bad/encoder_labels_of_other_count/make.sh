start_from ../encoders/bert_classifier
edit model/config.json 's/    "1": "middling",//'
edit model/config.json 's/    "2": "good"/    "1": "good"/'

start_from ../encoders/bert_classifier
edit model/config.json 's/"id2label": {/"id2label": [], "id2labels": {/'

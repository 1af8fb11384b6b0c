start_from ../encoders/bert_classifier

start_from ../encoders/bert_sentence
edit model/1_Pooling/config.json 's/"pooling_mode_cls_token": true/"pooling_mode_cls_token": "yes"/'

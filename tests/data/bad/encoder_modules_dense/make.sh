start_from ../encoders/bert_sentence
edit model/modules.json 's/models.Normalize/models.Dense/'

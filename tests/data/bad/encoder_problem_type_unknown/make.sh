start_from ../encoders/bert_classifier
edit model/config.json 's/^{/{\n  "problem_type": "ranking",/'

start_from ../encoders/bert_mlm
edit model/config.json 's/^{/{\n  "position_embedding_type": "relative_key",/'

config model_type '"lama"'

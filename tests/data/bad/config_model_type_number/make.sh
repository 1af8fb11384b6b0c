config model_type 7

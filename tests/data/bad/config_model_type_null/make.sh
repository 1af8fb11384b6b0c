config model_type null

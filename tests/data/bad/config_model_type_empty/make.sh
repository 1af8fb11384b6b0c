config model_type '""'

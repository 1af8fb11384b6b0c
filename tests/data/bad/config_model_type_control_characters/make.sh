config model_type '"\\u001b[31mllama\\n"' 

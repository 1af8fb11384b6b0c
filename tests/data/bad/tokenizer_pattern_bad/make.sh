edit model/tokenizer.json 's/"Regex": "/"Regex": "(/' 

edit model/tokenizer.json 's/"id": 580,/"id": -580,/' 

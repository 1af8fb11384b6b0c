edit model/tokenizer.json 's/"type": "Split"/"type": "Spilt"/'

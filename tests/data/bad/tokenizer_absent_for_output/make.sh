rm model/tokenizer.json

rm model/tokenizer.json && mkdir model/tokenizer.json

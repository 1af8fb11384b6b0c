echo no >model/tokenizer.json

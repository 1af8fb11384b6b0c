echo [] >model/tokenizer.json

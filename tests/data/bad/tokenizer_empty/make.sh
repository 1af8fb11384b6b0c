: >model/tokenizer.json

rm model/tokenizer.json && mkfifo model/tokenizer.json

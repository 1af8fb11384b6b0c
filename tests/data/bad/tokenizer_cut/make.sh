head -c 5000 model/tokenizer.json >cut && mv cut model/tokenizer.json

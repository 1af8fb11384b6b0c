edit model/tokenizer.json 's/^"model": /"mode": /'

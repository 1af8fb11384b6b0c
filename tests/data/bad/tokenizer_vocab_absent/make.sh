edit model/tokenizer.json 's/^"vocab": /"vocabulary": /'

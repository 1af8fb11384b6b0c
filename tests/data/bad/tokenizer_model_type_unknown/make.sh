edit model/tokenizer.json 's/"BPE"/"XYZ"/'

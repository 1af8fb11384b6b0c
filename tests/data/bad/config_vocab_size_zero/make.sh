config vocab_size 0

config vocab_size 584

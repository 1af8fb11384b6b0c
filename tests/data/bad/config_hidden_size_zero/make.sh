config hidden_size 0

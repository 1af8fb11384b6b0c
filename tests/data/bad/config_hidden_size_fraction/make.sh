config hidden_size 64.5

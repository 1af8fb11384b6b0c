config hidden_size true

config hidden_size 1e300

config hidden_size NaN

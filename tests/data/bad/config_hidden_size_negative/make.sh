config hidden_size -64

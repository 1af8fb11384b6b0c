config num_hidden_layers 1.5

config head_dim 15

config head_dim 0

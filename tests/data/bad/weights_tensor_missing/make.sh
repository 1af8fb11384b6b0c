header s/model.layers.1.mlp.up_proj/model.layers.1.mlp.upp_proj/

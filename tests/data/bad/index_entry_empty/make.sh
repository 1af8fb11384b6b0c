start_from llama_sharded
edit model/model.safetensors.index.json 's/\("lm_head.weight": \)"[^"]*"/\1""/'

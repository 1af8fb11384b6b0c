start_from llama_sharded
edit model/model.safetensors.index.json 's/\("lm_head.weight": \)"[^"]*"/\1"model-00004-of-00004.safetensors\\u0000"/'

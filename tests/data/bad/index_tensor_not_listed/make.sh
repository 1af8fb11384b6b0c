start_from llama_sharded
edit model/model.safetensors.index.json '/"lm_head.weight"/d'

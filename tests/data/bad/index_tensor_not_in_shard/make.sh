start_from llama_sharded
edit model/model.safetensors.index.json 's/"lm_head.weight"/"surplus": "model-00002-of-00004.safetensors", &/'

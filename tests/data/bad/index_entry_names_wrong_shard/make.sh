start_from llama_sharded
edit model/model.safetensors.index.json 's/\("lm_head.weight": "model-0000\)4/\12/'

start_from llama_sharded
edit model/model.safetensors.index.json s/weight_map/weights/

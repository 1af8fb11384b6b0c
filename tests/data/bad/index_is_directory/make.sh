start_from llama_sharded
rm model/model.safetensors.index.json && mkdir model/model.safetensors.index.json

start_from llama_sharded
echo [] >model/model.safetensors.index.json

start_from llama_sharded
echo '{"metadata": {}, "weight_map": []}' >model/model.safetensors.index.json

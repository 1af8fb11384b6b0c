start_from llama_sharded
echo no >model/model.safetensors.index.json

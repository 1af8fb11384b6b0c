start_from llama_sharded
rm model/model-00002-of-00004.safetensors

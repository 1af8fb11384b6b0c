start_from llama_sharded
echo no >model/model-00002-of-00004.safetensors

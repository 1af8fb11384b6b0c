start_from llama_sharded
here=$PWD
edit model/model.safetensors.index.json "s,\"model-00002-of-00004.safetensors\",\"$here/model/model-00002-of-00004.safetensors\"," 

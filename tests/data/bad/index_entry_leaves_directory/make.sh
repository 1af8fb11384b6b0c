start_from llama_sharded
mv model/model-00002-of-00004.safetensors model-00002-of-00004.safetensors && edit model/model.safetensors.index.json 's,"model-00002-of-00004.safetensors","../model-00002-of-00004.safetensors",'

start_from llama_sharded
mv model/model-00002-of-00004.safetensors outside && ln -s ../outside model/model-00002-of-00004.safetensors

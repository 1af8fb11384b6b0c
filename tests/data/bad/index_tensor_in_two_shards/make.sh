start_from llama_sharded
header 's/"model.layers.0.input_layernorm.weight":/"lm_head.weight":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},&/' model/model-00002-of-00004.safetensors

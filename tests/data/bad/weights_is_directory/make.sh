rm model/model.safetensors && mkdir model/model.safetensors

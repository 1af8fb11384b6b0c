rm model/model.safetensors && ln -s nowhere model/model.safetensors

rm model/model.safetensors && ln -s /dev/zero model/model.safetensors

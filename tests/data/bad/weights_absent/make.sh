rm model/model.safetensors

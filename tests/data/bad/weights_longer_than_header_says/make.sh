echo more >>model/model.safetensors

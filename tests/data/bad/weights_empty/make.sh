: >model/model.safetensors

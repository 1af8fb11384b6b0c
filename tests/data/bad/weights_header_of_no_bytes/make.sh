length_bytes 0 >model/model.safetensors

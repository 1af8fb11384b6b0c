printf 12345 >model/model.safetensors

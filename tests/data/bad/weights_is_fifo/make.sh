rm model/model.safetensors && mkfifo model/model.safetensors

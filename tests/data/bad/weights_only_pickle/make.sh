mv model/model.safetensors model/pytorch_model.bin

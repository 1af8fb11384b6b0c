head -c 500000 model/model.safetensors >cut && mv cut model/model.safetensors

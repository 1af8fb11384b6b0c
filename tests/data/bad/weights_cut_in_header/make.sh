head -c 700 model/model.safetensors >cut && mv cut model/model.safetensors

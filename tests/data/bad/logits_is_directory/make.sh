mkdir logits.safetensors

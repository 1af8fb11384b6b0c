printf '\377\377\377\377\377\377\377\377{}' >model/model.safetensors

edit model/config.json '/architectures/,/]/d'
edit model/config.json 's/^{/{\n  "architectures": "LlamaForCausalLM",/'

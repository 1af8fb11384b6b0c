edit model/config.json s/LlamaForCausalLM/LlamaForCausalLLM/

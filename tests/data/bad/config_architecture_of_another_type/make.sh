edit model/config.json s/LlamaForCausalLM/Qwen2MoeForCausalLM/

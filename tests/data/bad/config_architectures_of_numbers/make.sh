edit model/config.json 's/"LlamaForCausalLM"/1/'

edit model/config.json '1s/{/{ "quantization_config": {"bits": 4, "quant_method": "gptq"},/'

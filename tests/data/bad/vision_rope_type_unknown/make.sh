start_from ../vision/qwen2_vl_two_images
edit model/config.json 's/"num_heads": 2,/"num_heads": 2, "rope_parameters": {"rope_type": "spiral"},/'
